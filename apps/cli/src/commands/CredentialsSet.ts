/**
 * `dsh credentials set NAME`: keeps a key that is typed unseen, or piped in.
 */
import { checkReference } from "@dsh/settings/Credentials"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as HiddenInput from "../HiddenInput.ts"
import * as Keys from "../Keys.ts"
import { Output } from "../Output.ts"
import * as Stdin from "../Stdin.ts"

const read = (name: string) =>
  Effect.suspend(() =>
    process.stdin.isTTY && process.stderr.isTTY
      ? HiddenInput.ask(`${name} (it is not shown)`, { input: process.stdin, output: process.stderr })
      : Stdin.read(process.stdin, {
          what: "the value",
          hint: `pipe it in, or run "dsh credentials set ${name}" in a terminal and type it`
        })
  )

export const run = (name: string): Command =>
  Effect.gen(function* () {
    yield* checkReference(name)
    const { credentials } = yield* Keys.load
    const before = yield* credentials.describe(name)
    // Nobody types a key for nothing.
    const typed = before.writable ? yield* read(name) : "-"
    if (typed === undefined || typed.trim() === "") {
      return yield* Failure.usage(`no value was given, so ${name} is as it was; pipe it in, or type it`)
    }
    yield* credentials.set(name, Redacted.make(typed))
    const output = yield* Output
    output.notice(`${name} is kept from now on`)
    return ExitCode.completed
  }).pipe(Effect.mapError(Keys.failure))
