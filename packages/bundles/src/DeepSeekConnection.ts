/**
 * Where the DeepSeek API is and with which key: the program that composes knows. Asked for with each request.
 */
import type * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import type { LlmError } from "@dsh/llm/LlmError"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class DeepSeekConnection extends Context.Tag("@dsh/bundles/DeepSeekConnection")<
  DeepSeekConnection,
  Effect.Effect<LlmDeepSeek.Connection, LlmError>
>() {}
