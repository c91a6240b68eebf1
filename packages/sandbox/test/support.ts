/**
 * A confined world: a home with secrets, a workspace beside it, and programs that run under the real bubblewrap.
 */
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { Confinement } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import * as FsLocal from "@dsh/world/FsLocal"
import { Subprocess } from "@dsh/world/Subprocess"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import * as FsConfined from "../src/FsConfined.ts"
import * as SandboxBwrap from "../src/SandboxBwrap.ts"
import * as SubprocessConfined from "../src/SubprocessConfined.ts"

/** Whether this machine can confine; where it cannot, what refuses is tested instead. */
export const canConfine =
  process.platform === "linux" && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0

export interface World {
  readonly root: string
  readonly workspace: string
  readonly outside: string
  readonly home: string
  readonly confinement: Confinement
}

/** No `/tmp` is mounted over it, wherever the user's home is. */
const beside = existsSync("/var/tmp") ? "/var/tmp" : homedir()

/** In the system's temporary folder, or beside it. */
export const world = (fields: Partial<Confinement> = {}, parent: "temp" | "beside" = "temp") =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => realpathSync(mkdtempSync(join(parent === "temp" ? tmpdir() : beside, "dsh-sandbox-")))),
      (root) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
    ),
    (root): World => {
      const place = (name: string) => join(root, name)
      for (const name of ["ws/.git/hooks", "outside", "home/sessions/mine", "home/sessions/other", "temp"]) {
        mkdirSync(place(name), { recursive: true })
      }
      writeFileSync(place("ws/file.txt"), "mine\n")
      writeFileSync(place("ws/.git/config"), "[core]\n")
      writeFileSync(place("outside/file.txt"), "theirs\n")
      writeFileSync(place("home/.credentials.yaml"), "refs: { KEY: sk-secret-0123456789 }\n", { mode: 0o600 })
      writeFileSync(place("home/sessions/mine/session.jsonl"), "my log\n")
      writeFileSync(place("home/sessions/other/session.jsonl"), "other log\n")
      return {
        root,
        workspace: place("ws"),
        outside: place("outside"),
        home: place("home"),
        confinement: {
          mode: "workspace-write",
          workspace: place("ws"),
          network: "on",
          temp: place("temp"),
          hidden: [place("home/.credentials.yaml"), place("home/sessions")],
          shown: [place("home/sessions/mine")],
          ...fields
        }
      }
    }
  )

const unsaid = Effect.die("every test says how it is confined")

/** Programs confined by bubblewrap, over real processes. */
export const confined = Layer.effect(Subprocess, SubprocessConfined.make(unsaid)).pipe(
  Layer.provide(SandboxBwrap.layer()),
  Layer.provide(SubprocessLocal.layer({ graceMs: 300 })),
  Layer.provide(Layer.effect(Fs, FsConfined.make(unsaid))),
  Layer.provide(FsLocal.layer)
)

interface Ran {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A command line, confined, in the workspace. */
export const sh = (command: string, confinement: Confinement, cwd = confinement.workspace) =>
  Effect.scoped(
    Effect.gen(function* () {
      const subprocess = yield* Subprocess
      const collect = { maxBytes: 100_000 }
      const process = yield* subprocess.spawn({
        argv: ["bash", "-c", "--", command],
        cwd,
        stdin: "ignore",
        stdout: collect,
        stderr: collect
      })
      const { exitCode } = yield* process.exit
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
      const stdout = text((yield* process.collected.stdout.readFrom(0)).bytes)
      const stderr = text((yield* process.collected.stderr.readFrom(0)).bytes)
      return { exitCode, stdout, stderr } satisfies Ran
    })
  ).pipe(Effect.provideService(CurrentConfinement, confinement))
