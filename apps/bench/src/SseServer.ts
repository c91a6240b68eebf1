/**
 * A model that costs nothing: answers every POST with a stream rendered in advance, and tells when requests came in.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

export interface SseServer {
  readonly url: string
  /** `performance.now()` when the latest request arrived; NaN before the first. */
  readonly lastRequestAt: () => number
}

const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: "bench",
    object: "chat.completion.chunk",
    created: 0,
    model: "bench",
    choices: [{ index: 0, delta, finish_reason: finish }]
  })}\n\n`

/** One completion of `deltas` text deltas, as the provider would stream it. */
const render = (deltas: number): Buffer => {
  const texts = Array.from({ length: deltas }, (_, i) => event({ content: ` word${i % 100}` }, null))
  return Buffer.from(
    [event({ role: "assistant", content: "" }, null), ...texts, event({}, "stop"), "data: [DONE]\n\n"].join("")
  )
}

/** A tool call that no tool answers: whatever it costs is the harness. */
const call = (n: number): Buffer =>
  Buffer.from(
    [
      event(
        { tool_calls: [{ index: 0, id: `call_${n}`, function: { name: "nothing", arguments: `{"n":${n}}` } }] },
        null
      ),
      event({}, "tool_calls"),
      "data: [DONE]\n\n"
    ].join("")
  )

const listen = (
  answer: (request: Http.IncomingMessage, response: Http.ServerResponse) => void
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const server = Http.createServer(answer)
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () => Effect.sync(() => server.close().closeAllConnections())
    )
    const { port } = server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  })

/** Listens on loopback until the Scope closes. */
export const make = (deltas: number): Effect.Effect<SseServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const body = render(deltas)
    let lastRequestAt = Number.NaN
    const url = yield* listen((request, response) => {
      lastRequestAt = performance.now()
      request.resume().once("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end(body)
      })
    })
    return { url, lastRequestAt: () => lastRequestAt }
  })

export interface StepServer {
  readonly url: string
  /** Milliseconds from the end of each response to the arrival of the next request, since the last call. */
  readonly take: () => ReadonlyArray<number>
}

/** Answers each of `steps` requests with a tool call, and the one after them with text. Then it begins again. */
export const steps = (steps: number): Effect.Effect<StepServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const last = render(1)
    let n = 0
    let endedAt = Number.NaN
    let gaps: Array<number> = []
    const url = yield* listen((request, response) => {
      if (n > 0) gaps.push(performance.now() - endedAt)
      request.resume().once("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end(n < steps ? call(n++) : last, () => {
          endedAt = performance.now()
        })
        if (gaps.length === steps) n = 0
      })
    })
    return {
      url,
      take: () => {
        const taken = gaps
        gaps = []
        return taken
      }
    }
  })
