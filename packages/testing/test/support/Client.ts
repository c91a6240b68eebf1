/**
 * A client with no opinions: it reports what arrived and how the response ended.
 */
import * as Effect from "effect/Effect"
import * as Http from "node:http"

export interface Received {
  readonly status: number | undefined
  readonly headers: Http.IncomingHttpHeaders
  readonly text: string
  /** Number of separate reads. */
  readonly reads: number
  readonly ended: "end" | "reset"
}

export interface Call {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  /** Hang up once this many bytes have arrived. */
  readonly hangUpAfter?: number
}

export const call = (url: string, body: unknown, options: Call = {}): Effect.Effect<Received> =>
  Effect.async((resume) => {
    const reads: Array<Buffer> = []
    let response: Http.IncomingMessage | undefined
    const finish = (ended: Received["ended"]) =>
      resume(
        Effect.succeed({
          status: response?.statusCode,
          headers: response?.headers ?? {},
          text: Buffer.concat(reads).toString("utf8"),
          reads: reads.length,
          ended
        })
      )
    const request = Http.request(`${url}${options.path ?? "/chat/completions"}`, {
      method: options.method ?? "POST",
      agent: false,
      headers: { "content-type": "application/json", ...options.headers }
    })
    request.on("error", () => finish("reset"))
    request.on("response", (incoming) => {
      response = incoming
      let size = 0
      if (options.hangUpAfter === 0) request.destroy()
      incoming.on("data", (part: Buffer) => {
        reads.push(part)
        size += part.length
        if (options.hangUpAfter !== undefined && size >= options.hangUpAfter) request.destroy()
      })
      incoming.on("end", () => finish("end"))
      incoming.on("error", () => finish("reset"))
    })
    request.end(typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body))
    return Effect.sync(() => request.destroy())
  })

/** One event as the server wrote it; every field is only expected. */
export interface WireEvent {
  readonly choices: ReadonlyArray<{ readonly delta: WireDelta; readonly finish_reason: string | null }>
  readonly usage: unknown
}

interface WireDelta {
  readonly content?: string | null
  readonly tool_calls?: ReadonlyArray<{
    readonly index: number
    readonly id?: string
    readonly function: { readonly name?: string; readonly arguments: string }
  }>
}

/** The parsed events of a well-framed body, `[DONE]` left out. */
export const events = (text: string): ReadonlyArray<WireEvent> =>
  text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: ") && frame !== done)
    .map((frame) => JSON.parse(frame.slice(6)) as WireEvent)

const done = "data: [DONE]"

export const isDone = (text: string): boolean => text.endsWith(`${done}\n\n`)

export const request = (fields: object = {}): object => ({
  model: "deepseek-v4-flash",
  stream: true,
  messages: [{ role: "user", content: "hi" }],
  ...fields
})

export const readTool = {
  type: "function",
  function: { name: "read", description: "Reads.", parameters: { type: "object", properties: {} } }
}
