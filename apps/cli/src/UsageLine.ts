/**
 * What was used, in one line for people: `3 requests, 12345 tokens in (81 % from the cache), 678 out (123 of them reasoning)`.
 */
import * as UsageTally from "@dsh/protocol/UsageTally"

export const text = (tally: UsageTally.Tally): string => {
  const { output, reasoning, requests, unreported } = tally
  const input = tally.input + tally.cacheRead + tally.cacheWrite
  const hits = UsageTally.cacheHitRatio(tally)
  const parts = [
    requests === 1 ? "1 request" : `${requests} requests`,
    `${input} tokens in${hits === undefined ? "" : ` (${Math.round(hits * 100)} % from the cache)`}`,
    `${output} out${reasoning === 0 ? "" : ` (${reasoning} of them reasoning)`}`
  ]
  if (unreported > 0) parts.push(`${unreported} of unknown size`)
  return parts.join(", ")
}
