/**
 * The task of `dsh run`: its words, what is in the file it names, and what is piped in.
 */
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as Failure from "./Failure.ts"
import type { Output } from "./Output.ts"
import * as Stdin from "./Stdin.ts"

const hint = `say what to do, for example: dsh run "fix the failing test"`

export interface Sources {
  readonly words: ReadonlyArray<string>
  /** Absolute. `-` is stdin. */
  readonly file?: string | undefined
  readonly stdin?: () => Stdin.Stdin
  /** What is piped in beside a task. */
  readonly beside?: Effect.Effect<string, Failure.Failure, Output>
}

/** Succeeds with a task that is not blank, without its surrounding white space. */
export const resolve = ({
  beside = pipedIn,
  file,
  stdin = () => process.stdin,
  words
}: Sources): Effect.Effect<string, Failure.Failure, Output> =>
  Effect.gen(function* () {
    const said = words.join(" ").trim()
    const isPiped = file === "-" || (file === undefined && words.length === 0)
    const written = file === undefined || isPiped ? "" : yield* readFile(file)
    const piped = isPiped ? yield* read(stdin()) : ""
    const task = [said, written, piped].filter((part) => part !== "").join("\n\n")
    if (task === "")
      return yield* Failure.usage(`${words.length > 0 ? "the task is blank" : "no task was given"}; ${hint}`)
    const more = isPiped ? "" : yield* beside
    return more === "" ? task : `${task}\n\n<stdin>\n${more}\n</stdin>`
  })

/** Most runs have nothing there, and to look is cheap. */
const pipedIn = Effect.suspend(() => {
  const kind = Stdin.kind()
  return kind === "nothing"
    ? Effect.succeed("")
    : Effect.flatMap(
        Effect.promise(() => import("./Stdin/Beside.ts")),
        ({ read }) => read(kind)
      )
})

const read = (stdin: Stdin.Stdin): Effect.Effect<string, Failure.Failure> =>
  stdin.isTTY === true ? Effect.succeed("") : Stdin.read(stdin, { what: "the task", hint })

const readFile = (file: string): Effect.Effect<string, Failure.Failure> =>
  Effect.flatMap(
    Effect.try({
      try: () => readFileSync(file, "utf8").trim(),
      catch: (cause) => Failure.usage(`the task cannot be read from ${file} (${String(cause)}); ${hint}`)
    }),
    (text) => (text === "" ? Failure.usage(`${file} has no task in it; ${hint}`) : Effect.succeed(text))
  )
