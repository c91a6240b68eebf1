/**
 * One HTTP request from its first byte to its last: read, record, judge, answer.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as ChatRequest from "../ChatRequest.ts"
import * as Reply from "../Reply.ts"
import * as StrictProvider from "../StrictProvider.ts"
import * as Plan from "./Plan.ts"
import type { Recorder } from "./Recorder.ts"
import { transmit } from "./Transmit.ts"

export interface Config {
  readonly next: (request: ChatRequest.ChatRequest) => Effect.Effect<Reply.Reply>
  readonly recorder: Recorder
  readonly strict: boolean
  readonly apiKey: string | undefined
  readonly models: ReadonlyArray<string> | Reply.Reply
  readonly keepBodies: boolean
}

const dialects: Readonly<Record<string, ChatRequest.Dialect>> = {
  "POST /chat/completions": "chat-completions",
  "POST /responses": "responses",
  "POST /messages": "messages"
}

/** How many violations a refusal lists. */
const shown = 5

/** Answers one request; interrupted when the client is gone. */
export const make = (config: Config) => {
  let count = 0

  const ask = Effect.fnUntraced(function* (
    incoming: IncomingMessage,
    response: ServerResponse,
    path: string,
    dialect: ChatRequest.Dialect
  ) {
    const body = yield* read(incoming)
    const index = count++
    const headers = flatten(incoming)
    const json = parseJson(body)
    const request = ChatRequest.parse(json, { index, headers, bytes: body.length }, dialect)
    const violations = config.strict
      ? json === undefined
        ? StrictProvider.validateText(body, dialect)
        : StrictProvider.validate(json, dialect)
      : []
    config.recorder.add({
      index,
      path,
      headers,
      body: config.keepBodies ? body : new Uint8Array(0),
      json: config.keepBodies ? json : undefined,
      request: config.keepBodies ? request : undefined,
      remotePort: incoming.socket.remotePort ?? 0,
      receivedAt: yield* Clock.currentTimeMillis,
      violations,
      outcome: "open"
    })
    response.once("close", () => {
      config.recorder.settle(index, response.writableFinished ? "completed" : "closed-early")
    })
    const plan = yield* answer(config, request, violations)
    if (plan._tag === "Reset" || plan.ending === "reset") {
      // Settled here for certain, because the close event that follows cannot tell who hung up.
      yield* Effect.ensuring(
        transmit(plan, response),
        Effect.sync(() => config.recorder.settle(index, response.socket?.destroyed ? "reset" : "closed-early"))
      )
    } else {
      yield* transmit(plan, response)
    }
  })

  return (incoming: IncomingMessage, response: ServerResponse): Effect.Effect<void> => {
    const path = (incoming.url ?? "").split("?", 1)[0] ?? ""
    const route = `${incoming.method} ${path.startsWith("/v1/") ? path.slice(3) : path}`
    const dialect = dialects[route]
    if (dialect !== undefined) return ask(incoming, response, path, dialect)
    const reply =
      route === "GET /models"
        ? modelList(config.models)
        : Reply.error(404, { message: `no such endpoint: ${incoming.method} ${path}`, code: "not_found" })
    return transmit(Plan.make(reply, ChatRequest.parse(undefined, { index: 0, headers: {}, bytes: 0 })), response)
  }
}

const modelList = (models: Config["models"]): Reply.Reply =>
  "_tag" in models
    ? models
    : Reply.http(200, {
        body: { object: "list", data: models.map((id) => ({ id, object: "model", owned_by: "mock" })) }
      })

const answer = (
  config: Config,
  request: ChatRequest.ChatRequest,
  violations: ReadonlyArray<StrictProvider.Violation>
): Effect.Effect<Plan.Plan> => {
  if (config.apiKey !== undefined && keyOf(request) !== config.apiKey) {
    return Effect.succeed(Plan.make(Reply.behaviour("auth_error"), request))
  }
  if (violations.length > 0) return Effect.succeed(Plan.make(refusal(violations), request))
  return config.next(request).pipe(
    Effect.map((reply) => Plan.make(reply, request)),
    // A script is the test author's code: what it throws belongs in front of the author, not in a silent connection.
    Effect.catchAllDefect((defect) =>
      Effect.succeed(
        Plan.make(Reply.error(500, { message: Cause.pretty(Cause.die(defect)), code: "mock_script_threw" }), request)
      )
    )
  )
}

const keyOf = ({ dialect, headers }: ChatRequest.ChatRequest): string | undefined =>
  dialect === "messages" ? headers["x-api-key"] : headers.authorization?.replace(/^Bearer /, "")

const refusal = (violations: ReadonlyArray<StrictProvider.Violation>): Reply.Reply => {
  const first = violations.slice(0, shown).map(({ message, path, rule }) => `${message} (${rule} at ${path})`)
  const more = violations.length > shown ? `; and ${violations.length - shown} more` : ""
  return Reply.error(400, { message: first.join("; ") + more })
}

const read = (incoming: IncomingMessage): Effect.Effect<Uint8Array> =>
  Effect.async((resume) => {
    const parts: Array<Buffer> = []
    incoming.on("data", (part: Buffer) => parts.push(part))
    incoming.once("end", () => {
      const [first] = parts
      resume(Effect.succeed(parts.length === 1 && first !== undefined ? first : Buffer.concat(parts)))
    })
    // A client that goes away while uploading: the fiber is interrupted by the response's close event.
    incoming.once("error", () => undefined)
  })

const parseJson = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

const flatten = (incoming: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(incoming.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]
    )
  )
