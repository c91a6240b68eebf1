/**
 * Pieces of responses.
 */
import * as Reply from "../Reply.ts"

/** One event, as a server writes it. */
export const frame = (delta: unknown, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason: finish }] })

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

export const done = "data: [DONE]\n\n"

export const text = "中文🐋 é"

/** An answer with text and nothing else. */
export const words = `${frame({ content: "中文" })}${frame({ content: "🐋 é" })}${frame({}, "stop")}${done}`

/** An answer with a bit of everything. */
export const whole =
  frame({ role: "assistant", content: null, reasoning_content: "é" }) +
  frame({ content: "中🐋" }) +
  frame({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }] }) +
  frame({ tool_calls: [{ index: 0, function: { arguments: '{"p":"é"}' } }] }) +
  frame({}, "tool_calls") +
  event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }) +
  done

export const begun: string = frame({ content: "a" })

export const toolCall = (fields: object): object => ({ tool_calls: [fields] })

export const cut = (body: string, ending: "end" | "reset" = "end"): Reply.Reply => Reply.sse(body, { ending })
