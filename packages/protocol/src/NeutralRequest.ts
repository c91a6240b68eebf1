/**
 * The provider-neutral request: what is digested for adapters over a library that hides its own body, and for scripted models.
 */
import type { EpochHeader, RequestFormat } from "./Request.ts"

export const format = "neutral"

export const neutral: RequestFormat = {
  format,
  of: "neutral",
  open: (header: EpochHeader) => {
    const { config, system, tools } = header
    const head = JSON.stringify({
      ...config,
      ...(system !== undefined && { system }),
      ...(tools !== undefined && { tools })
    })
    return {
      prefix: `${head.slice(0, -1)},"messages":[`,
      initial: [],
      message: ({ content, role }) => [JSON.stringify({ role, content })],
      suffix: "]}"
    }
  }
}
