/**
 * Token usage in the shapes providers report it.
 */
import type { TokenUsage } from "@dsh/protocol/StreamChunk"
import { count, isRecord, record } from "../Lenient.ts"

/**
 * The disjoint buckets behind a `usage` object, or nothing when it counts nothing. Cache hits are part of the prompt in every shape,
 * so they are taken out of the input exactly once.
 */
export const parse = (raw: unknown): TokenUsage | undefined => {
  if (!isRecord(raw)) return undefined
  const hit = count(raw.prompt_cache_hit_tokens)
  const miss = count(raw.prompt_cache_miss_tokens)
  const cached = count(record(raw.prompt_tokens_details).cached_tokens) ?? hit
  const prompt = count(raw.prompt_tokens) ?? (miss === undefined ? undefined : miss + (hit ?? 0))
  const output = count(raw.completion_tokens)
  if (prompt === undefined && output === undefined) return undefined
  const reasoning = count(record(raw.completion_tokens_details).reasoning_tokens)
  return {
    inputTokens: Math.max(0, (prompt ?? 0) - (cached ?? 0)),
    outputTokens: output ?? 0,
    ...(cached !== undefined && { cacheReadTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning })
  }
}
