/**
 * The tools for commands and background jobs, loaded together when one of them is called.
 */
import * as BashTool from "@dsh/shell/BashTool"
import * as JobTools from "@dsh/shell/JobTools"

export const bash = BashTool.layer
export const jobs = JobTools.layer
