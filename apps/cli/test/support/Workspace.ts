/**
 * A run of `dsh` as a user has it: a home and a project folder of its own, and a model API on loopback.
 */
import * as MockLlm from "@dsh/testing/MockLlm"
import type * as Script from "@dsh/testing/Script"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dsh } from "./Dsh.ts"
import type { Options, Result } from "./Dsh.ts"

export const key = "sk-never-to-be-seen"

/** One line of a session log. */
interface Line {
  readonly type: string
  readonly data?: { readonly [key: string]: unknown }
}

export interface Workspace {
  readonly home: string
  readonly project: string
  /** What the command finds in its environment. */
  readonly env: Readonly<Record<string, string>>
  readonly server: MockLlm.MockLlm["Type"]
  readonly run: (args: ReadonlyArray<string>, options?: Options) => Effect.Effect<Result>
  /** The ids of the sessions under the home folder. */
  readonly sessions: () => ReadonlyArray<string>
  /** The log of a session, line by line. */
  readonly log: (id: string) => ReadonlyArray<Line>
}

export const make = (script: Script.Script, options: MockLlm.Options = {}) =>
  Effect.gen(function* () {
    const root = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-e2e-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const [home, project] = [join(root, "home"), join(root, "project")]
    mkdirSync(project)
    const server = yield* MockLlm.make({ script, apiKey: key, ...options })
    // Faults come once and for all, and commands run unconfined as they do on any machine, unless a test says otherwise.
    const env = {
      DSH_HOME: home,
      DEEPSEEK_API_KEY: key,
      DEEPSEEK_BASE_URL: server.url,
      DSH_MAX_RETRIES: "0",
      DSH_PERMISSION_MODE: "danger-full-access"
    }
    const folders = () => {
      const sessions = join(home, "sessions")
      return readdirSync(sessions).flatMap((name) => readdirSync(join(sessions, name)).map((id) => [name, id] as const))
    }
    const workspace: Workspace = {
      home,
      project,
      env,
      server,
      run: (args, more) => Effect.promise(() => dsh(args, { cwd: project, ...more, env: { ...env, ...more?.env } })),
      sessions: () => folders().map(([, id]) => id),
      log: (id) => {
        const [folder] = folders().find(([, name]) => name === id) ?? [""]
        return readFileSync(join(home, "sessions", folder, id, "session.jsonl"), "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Line)
      }
    }
    return workspace
  })
