/**
 * Whole programs as snapshots: the real command works on real files, only the model is played back from a cassette, and what came of
 * it is compared with what came of it before: output, exit codes, files and the session log.
 *
 * `DSH_SNAPSHOT` says how: `replay`, the default and all that a build server does, compares and writes nothing; `refresh` plays back
 * and writes what is expected anew; `record` asks a model, too, and writes both. The model is the real one where `DEEPSEEK_API_KEY` is
 * set, and the mock server with the scenario's own answers where it is not.
 */
import * as MockLlm from "@dsh/testing/MockLlm"
import * as Scenario from "@dsh/testing/Scenario"
import { Effect, Either } from "effect"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { dsh } from "./Dsh.ts"
import { normalise, withoutChunks } from "./Normalise.ts"
import type { Pins } from "./Normalise.ts"

export type Mode = "replay" | "refresh" | "record"

const modes: ReadonlyArray<string> = ["replay", "refresh", "record"]

export const mode = (env: NodeJS.ProcessEnv): Mode => {
  const asked = env["CI"] ? "replay" : env["DSH_SNAPSHOT"]?.trim() || "replay"
  if (!modes.includes(asked)) throw new Error(`DSH_SNAPSHOT is "${asked}"; it is one of ${modes.join(", ")}`)
  return asked as Mode
}

/** `scenario.json` of a snapshot. */
interface Scene {
  /** What the project folder holds at first. */
  readonly files?: Readonly<Record<string, string>>
  /** The commands, one after the other in one home folder: `{{session}}` is the id of the first session. */
  readonly runs: ReadonlyArray<{
    readonly args: ReadonlyArray<string>
    readonly env?: Readonly<Record<string, string>>
  }>
  /** The one scenario whose log shows the system prompt and the tools; all others only say that they are those. */
  readonly pins?: boolean
}

/** Runs a scenario: what came of it, by the name of the file that keeps it. In mode `record` its cassettes are written. */
export const run = (folder: string, how: Mode, pins: Pins | undefined) =>
  Effect.scoped(
    Effect.gen(function* () {
      const scene = JSON.parse(readFileSync(join(folder, "scenario.json"), "utf8")) as Scene
      const root = yield* Effect.acquireRelease(
        Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-snapshot-")))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      const [home, project] = [join(root, "home"), join(root, "project")]
      mkdirSync(project)
      for (const [name, text] of Object.entries(scene.files ?? {})) {
        mkdirSync(dirname(join(project, name)), { recursive: true })
        writeFileSync(join(project, name), text)
      }
      const model = how === "record" ? yield* asked(folder) : {}
      const outcome: Map<string, string> = new Map()
      for (const [i, { args, env }] of scene.runs.entries()) {
        const session = sessions(home)[0]?.id ?? ""
        const result = yield* Effect.promise(() =>
          dsh(
            args.map((arg) => arg.replaceAll("{{session}}", session)),
            {
              cwd: project,
              env: {
                DSH_PERMISSION_MODE: "danger-full-access",
                ...env,
                ...model,
                DSH_HOME: home,
                DSH_SNAPSHOT: how === "record" ? "record" : "replay",
                DSH_SNAPSHOT_FILE: join(folder, `cassette-${i + 1}.jsonl`)
              }
            }
          )
        )
        outcome.set(`run-${i + 1}.expected.txt`, normalise(report(args, result), { cwd: project }))
      }
      for (const { file, name } of sessions(home)) {
        outcome.set(
          `${name}.expected.jsonl`,
          normalise(withoutChunks(readFileSync(file, "utf8")), { cwd: project, pins })
        )
      }
      outcome.set("files.expected.json", `${JSON.stringify(files(project), null, 2)}\n`)
      return outcome
    })
  )

const asked = (folder: string) =>
  Effect.gen(function* () {
    const { DEEPSEEK_API_KEY: key = "", DEEPSEEK_BASE_URL: url } = process.env
    if (key !== "") return { DEEPSEEK_API_KEY: key, ...(url && { DEEPSEEK_BASE_URL: url }) }
    const name = join(folder, "answers.jsonl")
    const { script } = Either.getOrThrow(Scenario.parse(name, readFileSync(name, "utf8")))
    const server = yield* MockLlm.make({ script, strict: true })
    return { DEEPSEEK_API_KEY: "sk-mock-0123456789", DEEPSEEK_BASE_URL: server.url }
  })

const report = (
  args: ReadonlyArray<string>,
  { code, stderr, stdout }: { readonly code: number | null; readonly stderr: string; readonly stdout: string }
): string => [`$ dsh ${args.join(" ")}`, `exit ${code}`, "--- stdout", stdout, "--- stderr", stderr].join("\n")

/** The logs under the home folder, oldest first. */
const sessions = (home: string) => {
  const root = join(home, "sessions")
  if (!existsSync(root)) return []
  return readdirSync(root)
    .flatMap((place) =>
      readdirSync(join(root, place)).map((id) => ({ id, file: join(root, place, id, "session.jsonl") }))
    )
    .map((one) => ({ ...one, createdAt: /"createdAt":(\d+)/.exec(readFileSync(one.file, "utf8"))?.[1] ?? "" }))
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt))
    .map((one, i) => ({ ...one, name: `session-${i + 1}` }))
}

/** Every file of a folder with its text. */
const files = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [relative(folder, file), readFileSync(file, "utf8")])
  )
