/**
 * The tools for the web, loaded together when one of them is called.
 */
import * as WebFetchTool from "@dsh/web/WebFetchTool"
import * as WebSearchTool from "@dsh/web/WebSearchTool"

export const search = WebSearchTool.layer
export const fetch = WebFetchTool.layer
