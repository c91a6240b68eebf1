// Work in the background: what it says, whose it is, and how it ends.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { CallId } from "@dsh/protocol/Ids"
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schedule, TestClock } from "effect"
import * as BashTool from "../src/BashTool.ts"
import { JobSettled, Jobs } from "../src/Jobs.ts"
import type { Ended, Job } from "../src/Jobs.ts"
import * as JobsLocal from "../src/JobsLocal.ts"
import * as JobTools from "../src/JobTools.ts"
import { bash, eventually, tempDir } from "./support.ts"
import * as NodeFs from "node:fs"

const definitions = Layer.mergeAll(Sessions.layer, Tools.layer, ToolHooks.layer, SystemPrompt.layer, AgentHooks.layer)
const world = Layer.merge(BashTool.layer, JobTools.layer).pipe(
  Layer.provideMerge(Layer.merge(JobsLocal.layer({ maxPerSession: 2 }), bash())),
  Layer.provideMerge(definitions)
)

const session = Effect.flatMap(Sessions.Sessions, (sessions) => sessions.create({ cwd: "/" }))

const call = (name: string, args: object, owner: Session | undefined) =>
  Effect.map(ToolPipeline.execute({ callId: CallId("c"), name, arguments: args, session: owner }), ({ content }) =>
    content.map((block) => (block.type === "text" ? block.text : "")).join("")
  )

const command = (text: string) => ({ command: text, description: "Does it", run_in_background: true })

/** Work that ends when it is told to. */
const manual = Effect.gen(function* () {
  const end = yield* Deferred.make<Ended>()
  const stopped = yield* Deferred.make<void>()
  const begin = Effect.as(
    Effect.acquireRelease(Effect.void, () => Deferred.succeed(stopped, undefined)),
    { done: Deferred.await(end), output: Effect.succeed("") }
  )
  return { begin, end, stopped }
})

const spec = (begin: Effect.Effect.Success<typeof manual>["begin"], owner: Session | undefined) => ({
  kind: "test",
  label: "work",
  session: owner,
  begin
})

describe("background jobs", () => {
  it.scopedLive("a command goes on while others run; what it prints is read once, and its end is told", () =>
    Effect.gen(function* () {
      const folder = yield* tempDir
      const owner = yield* session
      const text = `echo begun; while [ ! -e ${folder}/go ]; do sleep 0.02; done; echo err >&2; exit 3`
      assert.strictEqual(yield* call("bash", command(text), owner), "started background job bash-1")
      yield* Effect.repeat(call("job_output", { job_id: "bash-1" }, owner), {
        until: (seen) => seen.includes("begun"),
        schedule: Schedule.spaced("10 millis")
      })
      assert.strictEqual(yield* call("job_output", { job_id: "bash-1" }, owner), "(no new output)\n[status: running]")
      assert.match(yield* call("job_list", {}, owner), /^bash-1 \[bash\] running — echo begun/)
      NodeFs.writeFileSync(`${folder}/go`, "")
      const over = yield* call("job_output", { job_id: "bash-1", wait: true }, owner)
      assert.strictEqual(over, "[stderr]\nerr\n[status: failed, exit code 3]")
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("killing ends the whole tree, also by the names it had", () =>
    Effect.gen(function* () {
      const folder = yield* tempDir
      const owner = yield* session
      yield* call("bash", command(`(sleep 600; true) & echo $! > ${folder}/pid; wait`), owner)
      yield* eventually(() => NodeFs.existsSync(`${folder}/pid`) && NodeFs.readFileSync(`${folder}/pid`, "utf8") !== "")
      const pid = Number(NodeFs.readFileSync(`${folder}/pid`, "utf8"))
      assert.strictEqual(
        yield* call("bash_kill", { job_id: "bash-1", reason: "enough" }, owner),
        "bash-1 is being ended\n[status: stopping]"
      )
      yield* eventually(() => !NodeFs.existsSync(`/proc/${pid}`))
      assert.match(yield* call("bash_output", { job_id: "bash-1", wait: true }, owner), /\[status: killed, enough\]$/)
      assert.match(yield* call("job_kill", { job_id: "bash-1" }, owner), /^bash-1 was over already\n/)
    }).pipe(Effect.provide(world))
  )

  it.scopedLive("a command that cannot start is no job", () =>
    Effect.gen(function* () {
      const owner = yield* session
      const refused = yield* call("bash", { ...command("true"), workdir: "/no/such/folder" }, owner)
      assert.match(refused, /^Error: /)
      assert.strictEqual(yield* call("job_list", {}, owner), "(no background jobs)")
    }).pipe(Effect.provide(world))
  )

  it.scoped("waiting ends at the end of the job, or when the time is up", () =>
    Effect.gen(function* () {
      const owner = yield* session
      const jobs = yield* Jobs
      const { begin, end } = yield* manual
      const { id } = yield* jobs.start(spec(begin, owner))
      const waits = yield* Effect.fork(jobs.read(id, owner, 1000))
      yield* TestClock.adjust(1000)
      assert.strictEqual((yield* Fiber.join(waits)).job.status, "running")
      const again = yield* Effect.fork(jobs.read(id, owner, 600_000))
      yield* Deferred.succeed(end, { status: "completed", detail: "fine" })
      const { job } = yield* Fiber.join(again)
      assert.deepInclude(job, { status: "completed", detail: "fine", startedAt: 0, finishedAt: 1000 })
    }).pipe(Effect.provide(world))
  )

  it.scoped("belong to a session, and are nobody else's", () =>
    Effect.gen(function* () {
      const [owner, other] = [yield* session, yield* session]
      const jobs = yield* Jobs
      const { id } = yield* jobs.start(spec((yield* manual).begin, owner))
      assert.strictEqual((yield* Effect.flip(jobs.read(id, other))).code, "JOB_FOREIGN")
      assert.strictEqual((yield* Effect.flip(jobs.kill(id, other))).code, "JOB_FOREIGN")
      assert.deepStrictEqual(yield* jobs.list(other), [])
      assert.match(yield* call("job_output", { job_id: "bash-9" }, owner), /there is no job "bash-9"; there are test-1/)
    }).pipe(Effect.provide(world))
  )

  it.scoped("are limited in number, while they run", () =>
    Effect.gen(function* () {
      const owner = yield* session
      const jobs = yield* Jobs
      const first = yield* manual
      yield* jobs.start(spec(first.begin, owner))
      yield* jobs.start(spec((yield* manual).begin, owner))
      const third = yield* manual
      const { code, message } = yield* Effect.flip(jobs.start(spec(third.begin, owner)))
      assert.deepStrictEqual([code, message.includes("test-1, test-2")], ["JOB_LIMIT", true])
      assert.isFalse(yield* Deferred.isDone(third.stopped), "it was begun all the same")
      yield* Deferred.succeed(first.end, { status: "completed" })
      yield* jobs.read("test-1", owner, 1000)
      assert.strictEqual((yield* jobs.start(spec(third.begin, owner))).id, "test-3")
      yield* jobs.start(spec((yield* manual).begin, yield* session))
    }).pipe(Effect.provide(world))
  )

  it.scoped("end with their session and with the service, and the end of a job is told once", () =>
    Effect.gen(function* () {
      const told: Array<readonly [Job, boolean]> = []
      const heard = JobSettled.hook("test", ({ job, told: known }) => Effect.sync(() => void told.push([job, known])))
      const stopped: Array<Deferred.Deferred<void>> = []
      yield* Effect.gen(function* () {
        const owner = yield* session
        const jobs = yield* Jobs
        const [mine, ends, other] = [yield* manual, yield* manual, yield* manual]
        stopped.push(mine.stopped, other.stopped)
        yield* jobs.start(spec(mine.begin, owner))
        const { id } = yield* jobs.start(spec(ends.begin, undefined))
        yield* jobs.start(spec(other.begin, undefined))
        yield* Deferred.succeed(ends.end, { status: "completed" })
        yield* jobs.read(id, undefined, 1000)
        assert.deepStrictEqual(
          told.map(([job, known]) => [job.id, job.status, known]),
          [["test-2", "completed", false]]
        )
        yield* jobs.drop(owner)
        assert.isTrue(yield* Deferred.isDone(mine.stopped))
        assert.isFalse(yield* Deferred.isDone(other.stopped))
      }).pipe(Effect.provide(Layer.provideMerge(heard, world)), Effect.scoped)
      for (const one of stopped) assert.isTrue(yield* Deferred.isDone(one))
    })
  )
})
