import { assert, describe, it } from "@effect/vitest"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as PersistenceSqlite from "@dsh/persistence-sqlite/PersistenceSqlite"
import { SessionId } from "@dsh/protocol/Ids"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { rolldown } from "rolldown"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

let folder: string
let appender: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dsh-sqlite-"))
  appender = join(folder, "appender.cjs")
  // The driver stays where it is: its binaries are beside it.
  const driver = { id: here("../../sqlite-driver/index.cjs"), external: true } as const
  const bundle = await rolldown({
    input: here("programs/Appender.ts"),
    platform: "node",
    plugins: [{ name: "driver", resolveId: (id) => (id === "better-sqlite3" ? driver : undefined) }]
  })
  await bundle.write({ file: appender, format: "cjs", codeSplitting: false })
  await bundle.close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the appender and kills it after it has stored `batches`. Succeeds with the number of events it is known to have stored. */
const killed = (file: string, name: string, batches: number) =>
  Effect.async<number>((resume) => {
    const child = spawn(process.execPath, [appender, file, name], { stdio: ["ignore", "pipe", "pipe"] })
    const output = { stdout: "", stderr: "" }
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text))
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text
      if (output.stdout.split("\n").length > batches) child.kill("SIGKILL")
    })
    child.once("close", (_, signal) => {
      const stored = Number(output.stdout.trimEnd().split("\n").at(-1))
      resume(signal === "SIGKILL" ? Effect.succeed(stored) : Effect.dieMessage(output.stderr))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

describe("processes that are killed", () => {
  it.scopedLive("lose nothing of what they stored, and their sessions are free", () =>
    Effect.gen(function* () {
      const file = join(folder, "sessions.db")
      const names = ["one", "two", "three"]
      // They race to create the database.
      const stored = yield* Effect.forEach(names, (name, n) => killed(file, name, 10 + n * 30), {
        concurrency: "unbounded"
      })
      const sessions = yield* PersistenceSqlite.make({ file })
      assert.strictEqual((yield* sessions.list).sessions.length, names.length)
      for (const [n, name] of names.entries()) {
        const { events, length } = yield* sessions.load(SessionId(name))
        assert.isAtLeast(length, stored[n]!)
        assert.deepStrictEqual(
          Array.from(events, ({ seq }) => seq),
          Array.from({ length }, (_, seq) => seq)
        )
        const resumed = yield* sessions.resume(SessionId(name))
        assert.deepStrictEqual([...resumed.events].at(-1)?.type, "turn/end")
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
