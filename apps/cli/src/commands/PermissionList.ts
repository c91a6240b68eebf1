/**
 * `dsh permission list`: the rules in force in this folder, and what was allowed for the rest of a session.
 */
import * as Grants from "@dsh/permission/Grants"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Permissions from "../Permissions.ts"
import * as Sessions from "../Sessions.ts"

interface Listed {
  readonly effect: string
  readonly rule: string
  readonly origin: string
}

export const run = ({ json, session }: { readonly json: boolean; readonly session: string | undefined }): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const book = yield* Permissions.withRules((rules) => rules.of(process.cwd()))
    const granted = session === undefined ? [] : Grants.inLog((yield* Sessions.load(session)).events)
    const listed: ReadonlyArray<Listed> = [
      ...book.rules.map(({ effect, origin, rule }) => ({ effect, rule: rule.text, origin })),
      ...granted.map((rule) => ({ effect: "allow", rule, origin: `session ${session}` }))
    ]
    for (const notice of book.notices) output.notice(notice)
    if (listed.length === 0) output.notice("there are no rules, so tools may do anything")
    else yield* output.print(listed.map(json ? (one) => JSON.stringify(one) : toText).join("\n"))
    return ExitCode.completed
  })

const toText = ({ effect, origin, rule }: Listed): string => `${effect.padEnd(5)}  ${rule}  (${origin})`
