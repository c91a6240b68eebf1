/**
 * The tools for files, loaded together when one of them is called.
 */
import * as EditTool from "@dsh/files/EditTool"
import * as GlobTool from "@dsh/files/GlobTool"
import * as GrepTool from "@dsh/files/GrepTool"
import * as ReadTool from "@dsh/files/ReadTool"
import * as WriteTool from "@dsh/files/WriteTool"

export const read = ReadTool.layer
export const write = WriteTool.layer
export const edit = EditTool.layer
export const glob = GlobTool.layer
export const grep = GrepTool.layer
