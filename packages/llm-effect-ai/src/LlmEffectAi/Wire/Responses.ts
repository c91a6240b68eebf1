/**
 * OpenAI's Responses. The library drops events that lack a field, and gives up an answer over arguments that are no JSON; so it is shown
 * complete events, and never the end of a call.
 */
import { record } from "@dsh/llm/Lenient"
import type { Raw } from "@dsh/llm/Lenient"
import type { Wire } from "../Wire.ts"
import { index, records, text, unquoted } from "./Raw.ts"

export const responses: Wire = {
  dialect: "responses",
  path: "/responses",

  body: (body, written) => {
    const { input, tools } = body
    const isForgotten = body.store === false
    return {
      ...body,
      ...(Array.isArray(input) && { input: records(input).flatMap((item) => itemOf(item, isForgotten, written)) }),
      // The schemas of our tools are their authors', not what strict functions have to be.
      ...(Array.isArray(tools) && { tools: records(tools).map((tool) => ({ ...tool, strict: false })) })
    }
  },

  reader: () => {
    const thoughts = new Set<string>()
    const calls = new Map<number, boolean>()
    return (event) => {
      const output_index = index(event.output_index)
      const at = { sequence_number: 0, output_index }
      const item_id = text(event.item_id)
      const delta = text(event.delta)
      switch (event.type) {
        case "response.output_item.added":
          return opened(record(event.item), at, thoughts, calls)
        case "response.output_item.done":
          return closed(record(event.item), at, thoughts, calls)
        case "response.output_text.delta":
        case "response.refusal.delta":
          return [{ type: "response.output_text.delta", ...at, item_id, content_index: 0, delta }]
        case "response.reasoning_summary_part.added": {
          const part = { type: "summary_text", text: "" }
          return [{ ...at, type: event.type, item_id, summary_index: index(event.summary_index), part }]
        }
        case "response.reasoning_text.delta":
        case "response.reasoning_summary_text.delta": {
          const summary_index = index(event.summary_index)
          return [{ ...at, type: "response.reasoning_summary_text.delta", item_id, summary_index, delta }]
        }
        case "response.function_call_arguments.delta":
          calls.set(output_index, true)
          return [{ ...at, type: event.type, item_id, delta }]
        default:
          return []
      }
    }
  }
}

const itemOf = (item: Raw, isForgotten: boolean, written: ReadonlyMap<string, string>): ReadonlyArray<Raw> => {
  switch (item.type) {
    case "function_call_output":
      return [{ ...item, output: unquoted(item.output) }]
    case "function_call":
      return [{ ...item, arguments: written.get(text(item.call_id)) ?? item.arguments }]
    case "reasoning":
      // What the provider was told not to keep, it knows only by its seal.
      return isForgotten && typeof item.encrypted_content !== "string" ? [] : [item]
    default: {
      const { id, ...rest } = item
      return [isForgotten || id === undefined ? rest : item]
    }
  }
}

interface At {
  readonly sequence_number: number
  readonly output_index: number
}

const added = "response.output_item.added"
const done = "response.output_item.done"

const message = (item: Raw) => ({
  type: "message",
  id: text(item.id),
  role: "assistant",
  status: "completed",
  content: []
})

const thought = (item: Raw) => ({
  type: "reasoning",
  id: text(item.id),
  summary: [],
  ...(typeof item.encrypted_content === "string" && { encrypted_content: item.encrypted_content })
})

const opened = (item: Raw, at: At, thoughts: Set<string>, calls: Map<number, boolean>): ReadonlyArray<Raw> => {
  switch (item.type) {
    case "message":
      return [{ type: added, ...at, item: message(item) }]
    case "reasoning":
      thoughts.add(text(item.id))
      return [{ type: added, ...at, item: thought(item) }]
    case "function_call": {
      calls.set(at.output_index, false)
      const call = { type: "function_call", call_id: text(item.call_id), name: text(item.name), arguments: "" }
      return [{ type: added, ...at, item: call }]
    }
    default:
      return []
  }
}

const closed = (item: Raw, at: At, thoughts: Set<string>, calls: Map<number, boolean>): ReadonlyArray<Raw> => {
  switch (item.type) {
    case "message":
      return [{ type: done, ...at, item: message(item) }]
    case "reasoning": {
      const isKnown = thoughts.delete(text(item.id))
      return [
        ...(isKnown ? [] : [{ type: added, ...at, item: thought(item) }]),
        { type: done, ...at, item: thought(item) }
      ]
    }
    case "function_call": {
      const isKnown = calls.has(at.output_index)
      if (calls.get(at.output_index) === true) return []
      // A server that does not stream arguments sends them with the end.
      const whole = { type: "response.function_call_arguments.delta", ...at, item_id: "", delta: text(item.arguments) }
      return [...(isKnown ? [] : opened(item, at, thoughts, calls)), whole]
    }
    default:
      return []
  }
}
