/**
 * The environment this process was started with, as a value that a composition or a test can replace.
 */
import * as Context from "effect/Context"

export type Env = Readonly<Record<string, string | undefined>>

export class AmbientEnv extends Context.Reference<AmbientEnv>()("@dsh/world/AmbientEnv", {
  defaultValue: (): Env => process.env
}) {}
