/**
 * The task of `dsh run`: its words, or else what is piped in.
 */
import * as Effect from "effect/Effect"
import * as Failure from "./Failure.ts"
import * as Stdin from "./Stdin.ts"

const hint = `say what to do, for example: dsh run "fix the failing test"`

/** Succeeds with a task that is not blank, without its surrounding white space. */
export const resolve = (
  words: ReadonlyArray<string>,
  openStdin: () => Stdin.Stdin = () => process.stdin
): Effect.Effect<string, Failure.Failure> =>
  Effect.filterOrFail(
    words.length > 0 ? Effect.succeed(words.join(" ").trim()) : Effect.suspend(() => read(openStdin())),
    (task) => task !== "",
    () => Failure.usage(words.length > 0 ? `the task is blank; ${hint}` : `no task was given; ${hint}`)
  )

const read = (stdin: Stdin.Stdin): Effect.Effect<string, Failure.Failure> =>
  stdin.isTTY === true ? Effect.succeed("") : Stdin.read(stdin, { what: "the task", hint })
