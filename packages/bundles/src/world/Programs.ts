/**
 * What runs programs and commands on this machine, loaded together when the first is run.
 */
import * as SubprocessConfined from "@dsh/sandbox/SubprocessConfined"
import * as BashSandbox from "@dsh/shell/BashSandbox"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as Layer from "effect/Layer"

export const local = SubprocessLocal.layer()
export const confined = Layer.provide(SubprocessConfined.layer, local)
export const bash = BashSandbox.layer
