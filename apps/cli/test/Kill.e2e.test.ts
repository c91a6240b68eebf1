// kill -9 at random moments: no turn that ended is lost, every log loads and goes on, and nothing the model or the world saw is missing
// from it. `pnpm test:chaos` does it five hundred times; CHAOS_SEED repeats a run.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const trials = Number(process.env["CHAOS_TRIALS"] ?? 12)
const seed = Number(process.env["CHAOS_SEED"] ?? Date.now() % 1_000_000)
/** Kills of one session, before the next begins: histories stay short. */
const perSession = 6
/** A run that nobody kills takes about twice as long as its start. */
const latestKill = 400

/** Mulberry32: small, and the same everywhere. */
const random = (state: number) => (): number => {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

const append = { name: "bash", arguments: { command: "echo one >> world", description: "Change the world" } }
const look = { name: "read", arguments: { file_path: "world" } }

/** Three rounds of tools for each task, then an answer in pieces. */
const script = Script.respond((request) => {
  const sinceTask = request.messages.slice(request.messages.findLastIndex(({ role }) => role === "user"))
  const rounds = sinceTask.filter(({ role }) => role === "assistant").length
  return rounds < 3
    ? Reply.toolCalls([append, look, look], { reasoning: "What now?" })
    : Reply.text(Array.from({ length: 40 }, (_, i) => `word ${i} `))
})

const logOf = (workspace: Workspace.Workspace): string | undefined => {
  const root = join(workspace.home, "sessions")
  if (!existsSync(root)) return undefined
  const files = readdirSync(root).flatMap((project) =>
    readdirSync(join(root, project)).map((id) => join(root, project, id, "session.jsonl"))
  )
  const [file, ...more] = files.filter((path) => existsSync(path))
  assert.deepStrictEqual(more, [])
  return file === undefined ? undefined : readFileSync(file, "utf8")
}

/** Up to the end of the last turn: what may never change again. */
const committed = (log: string): string => log.slice(0, log.indexOf("\n", log.lastIndexOf('"type":"turn/end"')) + 1)

const count = (text: string, part: string): number => text.split(part).length - 1

interface Figures {
  kills: number
  requests: number
  turns: number
}

const session = (next: () => number, kills: number, figures: Figures) =>
  Effect.gen(function* () {
    const workspace = yield* Workspace.make(script)
    let before = ""
    for (let trial = 0; trial <= kills; trial++) {
      const isLast = trial === kills
      const delay = Math.floor(next() * latestKill)
      const args = ["run", "--check-invariants", ...(before === "" ? [] : ["--continue"]), `task ${trial}`]
      let timer: ReturnType<typeof setTimeout> | undefined
      const result = yield* workspace.run(args, {
        onStart: (child) => {
          if (!isLast) timer = setTimeout(() => child.kill("SIGKILL"), delay)
        }
      })
      clearTimeout(timer)
      const where = `seed ${seed}, killed after ${delay} ms: ${result.stderr}`
      if (result.signal === null) assert.strictEqual(result.code, 0, where)
      else figures.kills++

      const log = logOf(workspace) ?? ""
      assert.isTrue(log.startsWith(committed(before)), `a turn that ended has changed; ${where}`)
      const requests = (yield* workspace.server.requests).length
      assert.isAtLeast(count(log, '"type":"request/sent"'), requests, `a request is not in the log; ${where}`)
      const world = join(workspace.project, "world")
      const changes = existsSync(world) ? count(readFileSync(world, "utf8"), "one") : 0
      assert.isAtLeast(count(log, '"type":"tool/call"'), changes, `a change is not in the log; ${where}`)
      if (log !== "") {
        const id = /"id":"(session-[^"]+)"/.exec(log)?.[1] ?? ""
        const verified = yield* workspace.run(["session", "verify", id])
        assert.strictEqual(verified.code, 0, `${verified.stdout}${verified.stderr}; ${where}`)
      }
      before = log
    }
    figures.requests += (yield* workspace.server.requests).length
    figures.turns += count(before, '"type":"turn/end"')
  }).pipe(Effect.scoped)

describe("kill -9", () => {
  it.live(
    `${trials} times, at random`,
    () =>
      Effect.gen(function* () {
        const next = random(seed)
        const figures: Figures = { kills: 0, requests: 0, turns: 0 }
        for (let left = trials; left > 0; left -= perSession) yield* session(next, Math.min(perSession, left), figures)
        yield* Effect.sync(() =>
          process.stdout.write(
            `seed ${seed}: ${figures.kills} kills, ${figures.turns} turns, ${figures.requests} requests; ` +
              "no committed turn lost, every log loads and goes on\n"
          )
        )
      }),
    120_000 + trials * 5000
  )
})
