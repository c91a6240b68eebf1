/**
 * `dsh permission allow RULE` and `dsh permission deny RULE`.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Permissions from "../Permissions.ts"

export const run = ({ effect, rule }: { readonly effect: "allow" | "deny"; readonly rule: string }): Command =>
  Effect.gen(function* () {
    const parsed = yield* Permissions.parse(rule)
    yield* Permissions.withRules((rules) => rules.add(effect, parsed))
    const output = yield* Output
    output.notice(`${parsed.text} is ${effect === "allow" ? "allowed" : "denied"} from now on`)
    return ExitCode.completed
  })
