// The tools over terminals, and whose terminals are whose.
import * as SystemPrompt from "@dsh/prompt/SystemPrompt"
import { CallId } from "@dsh/protocol/Ids"
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import * as Sessions from "@dsh/session/Sessions"
import type { Session } from "@dsh/session/Session"
import * as AgentHooks from "@dsh/agent/AgentHooks"
import * as JobsLocal from "@dsh/shell/JobsLocal"
import * as JobTools from "@dsh/shell/JobTools"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import * as ToolPipeline from "@dsh/tools/ToolPipeline"
import * as Tools from "@dsh/tools/Tools"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { Terminals } from "../src/Terminals.ts"
import type { Backend, Terminal } from "../src/Terminals.ts"
import * as TerminalsLocal from "../src/TerminalsLocal.ts"
import * as TerminalTools from "../src/TerminalTools.ts"
import { eventually, running, session, terminals } from "./support.ts"

const registries = Layer.mergeAll(Tools.layer, ToolHooks.layer, SystemPrompt.layer, AgentHooks.layer)
const world = (options?: TerminalTools.Options) =>
  Layer.merge(TerminalTools.layer(options), JobTools.layer).pipe(
    Layer.provideMerge(JobsLocal.layer()),
    Layer.provideMerge(registries),
    Layer.provideMerge(Layer.provideMerge(SandboxMode.events, terminals({ idleSilenceMs: 500 })))
  )

const call = (name: string, args: object, owner: Session | undefined) =>
  Effect.map(ToolPipeline.execute({ callId: CallId("c"), name, arguments: args, session: owner }), ({ content }) =>
    content.map((block) => (block.type === "text" ? block.text : "")).join("")
  )

describe("the tools over terminals", () => {
  it.scopedLive("open, send, read, signal, list and close", () =>
    Effect.gen(function* () {
      const owner = yield* session
      const tool = (name: string, args: object) => call(`terminal_${name}`, args, owner)
      assert.strictEqual(yield* tool("list", {}), "(no terminals)")
      assert.strictEqual(
        yield* tool("open", { type: "shell", name: "server", cwd: "usr" }),
        "opened pty-1 (server), type shell\ndsh> "
      )
      assert.strictEqual(
        yield* tool("send", { sessionId: "pty-1", text: "pwd" }),
        "pwd\n/usr\ndsh> \n[wait: stdin_read]\n[session: running]"
      )
      assert.match(
        yield* tool("send", { sessionId: "server", text: "sleep 600" }),
        /^sleep 600\n\[wait: inferred_idle\]\n\[session: running\]$/
      )
      assert.strictEqual(
        yield* tool("read", { sessionId: "server", offset: 1, count: 2 }),
        "dsh> pwd\n/usr\n[lines: 1-2 of 3]"
      )
      assert.match(
        yield* tool("signal", { sessionId: "server", signal: "SIGINT" }),
        /^sent SIGINT to process group \d+ of server$/
      )
      assert.strictEqual(yield* tool("list", {}), "pty-1 (server) [shell] running — /usr")
      assert.match(
        yield* tool("send", { sessionId: "server", text: "exit 3" }),
        /\[wait: session_exit\]\n\[session: exited code=3 signal=null\]$/
      )
      assert.strictEqual(
        yield* tool("close", { sessionId: "server" }),
        "closed pty-1 (server)\n[session: exited code=3 signal=null]"
      )
      assert.match(
        yield* tool("send", { sessionId: "server", text: "x" }),
        /there is no terminal "server"; there are none/
      )
      assert.match(yield* call("terminal_list", {}, undefined), /belong to the session of an agent/)
    }).pipe(Effect.provide(world()))
  )

  it.scopedLive("show no more than they may", () =>
    Effect.gen(function* () {
      const owner = yield* session
      yield* call("terminal_open", { type: "shell" }, owner)
      assert.match(
        yield* call("terminal_send", { sessionId: "pty-1", text: "seq 1 1000" }, owner),
        /^seq 1 1000\n1\n[^]{50,60}\n\[output truncated\]\n\[wait: stdin_read\]\n\[session: running\]$/
      )
      assert.match(yield* call("terminal_read", { sessionId: "pty-1" }, owner), /\n\[output truncated\]\n\[lines: /)
    }).pipe(Effect.provide(world({ maxResultBytes: 70 })))
  )

  it.scopedLive("send in the background, as a job", () =>
    Effect.gen(function* () {
      const owner = yield* session
      yield* call("terminal_open", { type: "shell" }, owner)
      const mark = `617${process.pid}`
      const background = { sessionId: "pty-1", run_in_background: true }
      const started = yield* call("terminal_send", { ...background, text: "sleep 1; echo do''ne" }, owner)
      assert.strictEqual(started, "started background job terminal-1")
      assert.match(yield* call("terminal_send", { ...background, text: "x" }, owner), /something else is being sent/)
      assert.match(yield* call("job_list", {}, owner), /^terminal-1 \[terminal\] running — sleep 1/)
      const over = yield* call("job_output", { job_id: "terminal-1", wait: true }, owner)
      assert.match(
        over,
        /\ndone\ndsh> \n\[wait: stdin_read\]\n\[session: running\]\n\[status: completed, stdin_read\]$/
      )
      yield* call("terminal_send", { ...background, text: `sleep ${mark}` }, owner)
      yield* eventually(() => running(`sleep ${mark}`).length > 0)
      yield* call("job_kill", { job_id: "terminal-2" }, owner)
      yield* eventually(() => running(`sleep ${mark}`).length === 0)
    }).pipe(Effect.provide(world()))
  )

  it.scopedLive("hold the sandbox mode of their owner, and of nobody else", () =>
    Effect.gen(function* () {
      const [owner, other] = [yield* session, yield* session]
      yield* SandboxMode.set(owner, "workspace-write")
      yield* call("terminal_open", { type: "shell" }, owner)
      const { code, message } = yield* Effect.flip(SandboxMode.set(owner, "read-only"))
      assert.deepStrictEqual([code, /while terminal pty-1 is open; close it first/.test(message)], ["INVARIANT", true])
      assert.strictEqual(SandboxMode.of(owner), "workspace-write")
      yield* SandboxMode.set(other, "read-only")
      yield* call("terminal_close", { sessionId: "pty-1" }, owner)
      yield* SandboxMode.set(owner, "read-only")
    }).pipe(Effect.provide(world()))
  )
})

// -----------------------------------------------------------------------------
// whose terminals are whose
// -----------------------------------------------------------------------------

const quiet: Terminal = {
  startup: "",
  send: () => Effect.never,
  read: () => Effect.succeed({ text: "", from: 0, to: 0, total: 0 }),
  signal: () => Effect.succeed(1),
  ended: Effect.succeed(undefined),
  terminate: Effect.void
}

/** A backend that says when it was asked and when its terminal was closed, and opens when it is told to. */
const manual = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const backend: Backend = {
    type: "manual",
    description: "",
    open: () =>
      Effect.gen(function* () {
        yield* Effect.addFinalizer(() => Deferred.succeed(closed, undefined))
        yield* Deferred.succeed(asked, undefined)
        yield* Deferred.await(go)
        return quiet
      })
  }
  return { asked, go, closed, backend }
})

const bare = Layer.provideMerge(TerminalsLocal.layer, Layer.provideMerge(SandboxMode.events, Sessions.layer))
const codeOf = <A, E extends { readonly code: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ code }) => code)

describe("terminals", () => {
  it.scoped("belong to a session, by id and by name", () =>
    Effect.gen(function* () {
      const service = yield* Terminals
      const { backend, go } = yield* manual
      yield* Deferred.succeed(go, undefined)
      yield* service.register(backend)
      const [owner, other] = [yield* session, yield* session]
      const request = { type: "manual", owner, cwd: "/" }
      assert.strictEqual(yield* codeOf(Effect.scoped(service.register(backend))), "DUPLICATE_BACKEND")
      assert.strictEqual(yield* codeOf(service.open({ ...request, type: "other" })), "NO_BACKEND")
      const { id } = yield* service.open({ ...request, name: "mine" })
      assert.strictEqual(yield* codeOf(service.open({ ...request, name: "mine" })), "DUPLICATE_NAME")
      assert.strictEqual((yield* service.open({ ...request, owner: other, name: "mine" })).id, "pty-2")
      assert.strictEqual(yield* codeOf(service.read(id, other, 0, 1)), "FOREIGN_SESSION")
      assert.strictEqual(yield* codeOf(service.close(id, other)), "FOREIGN_SESSION")
      assert.strictEqual(yield* codeOf(service.signal("pty-9", owner, "SIGINT")), "NO_SESSION")
      assert.deepStrictEqual(
        (yield* service.list(owner)).map((info) => info.id),
        [id]
      )
      yield* service.read("mine", owner, 0, 1)
    }).pipe(Effect.provide(bare))
  )

  it.scoped("take one send at a time, also after one was interrupted", () =>
    Effect.gen(function* () {
      const service = yield* Terminals
      const { backend, go } = yield* manual
      yield* Deferred.succeed(go, undefined)
      yield* service.register(backend)
      const owner = yield* session
      const { id } = yield* service.open({ type: "manual", owner, cwd: "/" })
      const first = yield* Effect.fork(service.send(id, owner, "x"))
      yield* Effect.yieldNow()
      assert.strictEqual(yield* codeOf(service.send(id, owner, "y")), "SEND_ACTIVE")
      yield* Fiber.interrupt(first)
      const second = yield* Effect.fork(service.send(id, owner, "y"))
      yield* Effect.yieldNow()
      assert.isNull(second.unsafePoll())
      yield* Fiber.interrupt(second)
    }).pipe(Effect.provide(bare))
  )

  it.scoped("that are opening hold the sandbox mode, and are given up with their session", () =>
    Effect.gen(function* () {
      const service = yield* Terminals
      const { asked, backend, closed } = yield* manual
      yield* service.register(backend)
      const life = yield* Scope.make()
      const owner = yield* Scope.extend(session, life)
      const opening = yield* Effect.fork(service.open({ type: "manual", owner, cwd: "/" }))
      yield* Deferred.await(asked)
      assert.strictEqual(yield* codeOf(SandboxMode.set(owner, "read-only")), "INVARIANT")
      yield* Scope.close(life, Exit.void)
      assert.strictEqual(yield* codeOf(Fiber.join(opening)), "OWNER_NOT_LIVE")
      yield* Deferred.await(closed)
      assert.strictEqual(yield* codeOf(service.open({ type: "manual", owner, cwd: "/" })), "OWNER_NOT_LIVE")
    }).pipe(Effect.provide(bare))
  )

  it.scoped("close with their session, their backend and the service", () =>
    Effect.gen(function* () {
      const opened = (service: Terminals["Type"]) =>
        Effect.gen(function* () {
          const { backend, closed, go } = yield* manual
          yield* Deferred.succeed(go, undefined)
          const registered = yield* Scope.make()
          const type = `manual-${Math.random()}`
          yield* Scope.extend(service.register({ ...backend, type }), registered)
          const life = yield* Scope.make()
          const owner = yield* Scope.extend(session, life)
          yield* service.open({ type, owner, cwd: "/" })
          return { closed, registered, life, owner }
        })
      yield* Effect.gen(function* () {
        const service = yield* Terminals
        const one = yield* opened(service)
        yield* Scope.close(one.life, Exit.void)
        yield* Deferred.await(one.closed)
        const other = yield* opened(service)
        yield* Scope.close(other.registered, Exit.void)
        yield* Deferred.await(other.closed)
        assert.deepStrictEqual(yield* service.list(other.owner), [])
      }).pipe(Effect.provide(bare))
      const [last, service, owner] = yield* Effect.gen(function* () {
        const service = yield* Terminals
        const { closed, owner } = yield* opened(service)
        return [closed, service, owner] as const
      }).pipe(Effect.provide(bare))
      yield* Deferred.await(last)
      assert.strictEqual(yield* codeOf(service.open({ type: "manual", owner, cwd: "/" })), "SERVICE_DISPOSING")
    })
  )

  it.scopedLive("are given up promptly while they open, with all that was started", () =>
    Effect.gen(function* () {
      const service = yield* Terminals
      const owner = yield* session
      const mark = `dsh-opening-${process.pid}`
      const opening = yield* Effect.fork(service.open({ type: "slow", owner, cwd: "/" }))
      yield* eventually(() => running(mark).length > 0)
      const [took] = yield* Effect.timed(Fiber.interrupt(opening))
      assert.isBelow(Duration.toMillis(took), 1000)
      yield* eventually(() => running(mark).length === 0)
      assert.deepStrictEqual(yield* service.list(owner), [])
    }).pipe(
      Effect.provide(
        terminals({
          backendType: "slow",
          idleSilenceMs: 60_000,
          shellArgs: ["-c", `: dsh-opening-${process.pid}; trap '' HUP TERM; while :; do sleep 1; done`]
        })
      )
    )
  )
})
