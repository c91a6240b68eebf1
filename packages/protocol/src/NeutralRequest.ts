/**
 * The provider-neutral request: what is digested for adapters over a library that hides its own body, and for scripted models.
 */
import type { Message } from "./Message.ts"
import type { EpochHeader, LlmCallConfig, RequestFormat } from "./Request.ts"

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
      message: (message) => [
        JSON.stringify({ role: message.role, content: message.content, ...replay(message, config) })
      ],
      suffix: "]}"
    }
  }
}

/** What an adapter kept of its own answer goes back to the route it came from, and there it is part of the request. */
const replay = ({ source }: Message, { provider }: LlmCallConfig): object =>
  source.kind === "model" && source.provider === provider && source.replayState !== undefined
    ? { replayState: source.replayState }
    : {}
