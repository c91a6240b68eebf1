// Real commands, judged by what they were told.
import { Notifications } from "@dsh/notifications/Notifications"
import type { News } from "@dsh/notifications/Notifications"
import * as NotificationsLocal from "@dsh/notifications/NotificationsLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "dsh-notifications-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const news = (cwd: string, more: Partial<News> = {}): News => ({
  event: "completed",
  message: `it's "done"; $(touch bad) \`touch bad\``,
  sessionId: "session-1",
  cwd,
  durationMs: 5000,
  ...more
})

const tell = (told: News, options: NotificationsLocal.Options) =>
  Effect.flatMap(Notifications, ({ tell }) => tell(told)).pipe(Effect.provide(NotificationsLocal.layer(options)))

/** Waits for the world, not for a clock. */
const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve))
  })

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0)
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return true
  }
}

describe("a command of notifications", () => {
  it.scopedLive("is told the facts in its environment and on stdin, literally, and no key", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      process.env["NOTIFICATION_TEST_KEY"] = "secret"
      const script = 'printf "%s|%s" "$DSH_EVENT" "$DSH_MESSAGE" > env; cat > json; env > all'
      assert.isUndefined(yield* tell(news(cwd), { command: ["bash", "-c", script] }))
      delete process.env["NOTIFICATION_TEST_KEY"]
      const at = (name: string) => readFileSync(join(cwd, name), "utf8")
      assert.strictEqual(at("env"), `completed|${news(cwd).message}`)
      assert.deepStrictEqual(JSON.parse(at("json")), news(cwd))
      assert.notInclude(at("all"), "secret")
      assert.throws(() => at("bad"))
    })
  )

  const faults: ReadonlyArray<readonly [what: string, command: readonly [string, ...Array<string>], said: RegExp]> = [
    ["is not there", ["/nowhere/notify"], /did not start: .*ENOENT/],
    ["fails", ["bash", "-c", "exit 3"], /\(bash\) failed: exit code 3$/],
    ["reads nothing", ["true"], /^$/]
  ]
  for (const [what, command, said] of faults) {
    it.scopedLive(`that ${what} is no failure of what it tells of`, () =>
      Effect.gen(function* () {
        assert.match((yield* tell(news(yield* folder), { command })) ?? "", said)
      })
    )
  }

  it.scoped("that takes too long is ended, with what it has started", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const file = join(cwd, "pid")
      const telling = yield* Effect.fork(
        tell(news(cwd), { command: ["bash", "-c", "sleep 600 & echo $! > new; mv new pid; wait"] })
      )
      yield* until(() => existsSync(file))
      yield* TestClock.adjust("10 seconds")
      assert.match((yield* Fiber.join(telling)) ?? "", /took longer than 10s and was ended$/)
      const pid = Number(readFileSync(file, "utf8"))
      yield* until(() => isGone(pid))
    })
  )
})

describe("a bell", () => {
  const rings = (told: Partial<News>, options: NotificationsLocal.Options) => {
    let rung = 0
    return Effect.as(tell(news("/", told), { ...options, ring: () => void rung++ }), 0).pipe(Effect.map(() => rung))
  }

  it.effect("is rung when it is wanted, and it took long enough", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* rings({}, { bell: true }), 1)
      assert.strictEqual(yield* rings({}, {}), 0)
      assert.strictEqual(yield* rings({ durationMs: 29_999 }, { bell: true, after: 30 }), 0)
      assert.strictEqual(yield* rings({ durationMs: 30_000 }, { bell: true, after: 30 }), 1)
      assert.strictEqual(yield* rings({ durationMs: 0, event: "approval" }, { bell: true, after: 30 }), 1)
    })
  )
})
