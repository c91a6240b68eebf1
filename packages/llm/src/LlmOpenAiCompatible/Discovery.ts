/**
 * Which models a server has: `GET /models`, in the shapes servers answer it.
 */
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ChatCompletions from "../ChatCompletions.ts"
import * as Errors from "../ChatCompletions/Errors.ts"
import { count, isRecord, record, text } from "../Lenient.ts"
import { LlmError } from "../LlmError.ts"
import type { CatalogEntry } from "../ModelCatalog.ts"

/** A list of models is not longer than this, in bytes. */
const longest = 4 * 1024 * 1024

/** A person waits for it. */
const deadline = "15 seconds"

/** Fails with `DISCOVERY_FAILED` and a reason. */
export const discover = (
  options: Pick<ChatCompletions.Options, "client" | "endpoint" | "apiKey" | "headers">
): Effect.Effect<ReadonlyArray<CatalogEntry>, LlmError> => {
  const endpoint = ChatCompletions.guarded(options.endpoint, options)
  const url = `${Errors.visible(endpoint.url)}/models`
  const failed = (why: string, status?: number) =>
    new LlmError({
      code: "DISCOVERY_FAILED",
      message: `cannot list the models at ${url}: ${why}`,
      ...(status !== undefined && { status })
    })
  const request = ChatCompletions.authorized(
    HttpClientRequest.get(`${endpoint.url}/models`),
    "application/json",
    options
  )
  // The cause of a failed request holds the request, and with it the key.
  const broken = (error: HttpClientError) =>
    failed(Errors.transport(endpoint, error.cause ?? new Error(error.message), false).message)
  return options.client.execute(request).pipe(
    Effect.mapError(broken),
    Effect.flatMap((response) =>
      Effect.flatMap(read(response, broken, failed), (body) => {
        const { headers, status } = response
        if (status < 200 || status > 299) {
          return Effect.fail(failed(Errors.refused(endpoint, { status, headers, body, now: 0 }).message, status))
        }
        const models = parse(body)
        return models === undefined
          ? Effect.fail(failed(`the answer is no list of models; check ${endpoint.urlName}`))
          : Effect.succeed(models)
      })
    ),
    Effect.timeoutFail({ duration: deadline, onTimeout: () => failed(`no answer within ${deadline}; try again`) })
  )
}

const read = (
  response: HttpClientResponse,
  broken: (error: HttpClientError) => LlmError,
  failed: (why: string) => LlmError
): Effect.Effect<string, LlmError> =>
  Effect.suspend(() => {
    const decoder = new TextDecoder()
    let size = 0
    let body = ""
    return Stream.runForEach(Stream.mapError(response.stream, broken), (bytes) => {
      size += bytes.length
      if (size > longest) return Effect.fail(failed(`the answer is longer than ${longest / 1024 / 1024} MB`))
      body += decoder.decode(bytes, { stream: true })
      return Effect.void
    }).pipe(Effect.map(() => body))
  })

/** The list in a body: `{data: […]}`, `{models: […]}` or the list alone, of objects or of names. */
const parse = (body: string): ReadonlyArray<CatalogEntry> | undefined => {
  const value = json(body)
  const list: unknown = isRecord(value) ? (value.data ?? value.models) : value
  if (!Array.isArray(list)) return undefined
  const seen = new Map<string, CatalogEntry>()
  for (const item of list as ReadonlyArray<unknown>) {
    const entry = entryOf(item)
    if (entry !== undefined) seen.set(entry.id, entry)
  }
  return [...seen.values()]
}

const entryOf = (item: unknown): CatalogEntry | undefined => {
  if (!isRecord(item)) {
    const id = text(item)
    return id === undefined ? undefined : { id }
  }
  const id = text(item.id) ?? text(item.model) ?? text(item.name)
  if (id === undefined) return undefined
  const name = text(item.display_name) ?? text(item.name)
  const contextWindow = positive(
    item.context_length,
    item.max_model_len,
    item.context_window,
    item.max_context_length,
    record(item.meta).n_ctx,
    record(item.meta).n_ctx_train
  )
  const maxTokens = positive(record(item.top_provider).max_completion_tokens, item.max_completion_tokens)
  const modalities: unknown = record(item.architecture).input_modalities
  return {
    id,
    ...(name !== undefined && { name }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(Array.isArray(modalities) && modalities.includes("image") && { inputModalities: ["text", "image"] })
  }
}

const positive = (...values: ReadonlyArray<unknown>): number | undefined =>
  values.map(count).find((value) => value !== undefined && value > 0)

const json = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
