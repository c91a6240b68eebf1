/**
 * A model provider on loopback: a real HTTP server that answers by script. It speaks the DeepSeek chat-completions wire format, OpenAI's
 * Responses (`/responses`) and Anthropic's Messages (`/messages`); the path says which.
 *
 * Tests and benchmarks run the real adapter against it, so that everything but the model itself is the product. It refuses what a
 * strict provider refuses, records what it saw, and can misbehave in every way a provider or a proxy has been seen to.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import { Recorder } from "./MockLlm/Recorder.ts"
import type { Recorded } from "./MockLlm/Recorder.ts"
import * as Routes from "./MockLlm/Routes.ts"
import type * as Reply from "./Reply.ts"
import * as Script from "./Script.ts"

export type { Outcome, Recorded } from "./MockLlm/Recorder.ts"

export interface Options {
  /** What it answers. Default: the behaviour `success`, always. */
  readonly script?: Script.Script
  /** Default 0: any free port. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Whether requests that a strict provider refuses are answered with 400. Default true. */
  readonly strict?: boolean
  /** When set, any other key is answered with 401. */
  readonly apiKey?: string
  /** Ids that `GET /models` lists, or what it answers instead. Default: those of the DeepSeek catalog. */
  readonly models?: ReadonlyArray<string> | Reply.Reply
  /** Whether bodies are kept for assertions. Long benchmarks switch it off. Default true. */
  readonly keepBodies?: boolean
}

/** The server could not begin to listen. */
export class MockLlmError extends Data.TaggedError("MockLlmError")<{
  readonly host: string
  readonly port: number
  readonly cause: unknown
}> {
  readonly code = "LISTEN_FAILED"
  override get message(): string {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `the mock model cannot listen on ${this.host}:${this.port} (${why}); choose another port, or 0 for any free one`
  }
}

export class MockLlm extends Context.Tag("@dsh/testing/MockLlm")<
  MockLlm,
  {
    /** The base URL a client is configured with, without a trailing slash. */
    readonly url: string
    readonly port: number
    /** Every request to a model so far, in order of arrival. */
    readonly requests: Effect.Effect<ReadonlyArray<Recorded>>
    /** Waits until there were at least `count` requests. */
    readonly awaitRequests: (count: number) => Effect.Effect<ReadonlyArray<Recorded>>
    /** The requests whose client hung up before the response was complete. */
    readonly closedEarly: Effect.Effect<ReadonlyArray<Recorded>>
    /** Waits until at least `count` clients hung up early. */
    readonly awaitClosedEarly: (count: number) => Effect.Effect<ReadonlyArray<Recorded>>
    /** Answers from here on by another script. */
    readonly use: (script: Script.Script) => Effect.Effect<void>
  }
>() {}

/** Listens until the Scope closes; then every connection is cut. Pauses in replies follow the `Clock` it was made under. */
export const make = (options: Options = {}): Effect.Effect<MockLlm["Type"], MockLlmError, Scope.Scope> =>
  Effect.gen(function* () {
    const recorder = new Recorder()
    let run = Script.start(options.script ?? Script.sequence([{ _tag: "Behaviour", name: "success" }], "last"))
    const handle = Routes.make({
      next: (request) => run.next(request),
      recorder,
      strict: options.strict ?? true,
      apiKey: options.apiKey,
      models: options.models ?? ["deepseek-v4-flash", "deepseek-v4-pro"],
      keepBodies: options.keepBodies ?? true
    })
    const fork = yield* FiberSet.makeRuntime()
    const server = Http.createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
      const fiber = fork(handle(request, response))
      response.once("close", () => fiber.unsafeInterruptAsFork(FiberId.none))
    })
    const host = options.host ?? "127.0.0.1"
    const port = yield* Effect.acquireRelease(listen(server, host, options.port ?? 0), () => close(server))
    return MockLlm.of({
      url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
      port,
      requests: Effect.sync(() => recorder.all()),
      awaitRequests: (count) => recorder.await(() => recorder.all(), count),
      closedEarly: Effect.sync(() => recorder.closedEarly()),
      awaitClosedEarly: (count) => recorder.await(() => recorder.closedEarly(), count),
      use: (script) =>
        Effect.sync(() => {
          run = Script.start(script)
        })
    })
  })

export const layer = (options: Options = {}): Layer.Layer<MockLlm, MockLlmError> => Layer.scoped(MockLlm, make(options))

/** A base URL on which nothing listens: the behaviour `connection_refused`. */
export const refusedUrl: Effect.Effect<string, MockLlmError> = Effect.scoped(Effect.map(make(), (server) => server.url))

const listen = (server: Http.Server, host: string, port: number): Effect.Effect<number, MockLlmError> =>
  Effect.async((resume) => {
    const failed = (cause: unknown) => resume(Effect.fail(new MockLlmError({ host, port, cause })))
    server.once("error", failed)
    // Thousands of clients may connect at once: the default backlog of 511 would make them wait for a retransmission.
    server.listen({ host, port, backlog: 8192 }, () => {
      server.off("error", failed)
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

const close = (server: Http.Server): Effect.Effect<void> =>
  Effect.async((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })
