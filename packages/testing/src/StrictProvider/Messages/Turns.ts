/**
 * The messages of a request to the Messages API. Messages of one role that follow each other are one turn.
 */
import { isRecord } from "../../ChatRequest.ts"
import type { Report } from "../Report.ts"
import * as Blocks from "./Blocks.ts"

type Raw = Readonly<Record<string, unknown>>

interface Turn {
  readonly role: "user" | "assistant"
  readonly path: string
  readonly blocks: Array<readonly [block: Raw, path: string]>
}

/** `thinks` makes a thought mandatory before the calls of a turn that is still going on. */
export const check = (messages: unknown, thinks: boolean, report: Report): void => {
  if (!Array.isArray(messages) || messages.length === 0) {
    return report.add("messages-empty", "$.messages", "messages: at least one message is required")
  }
  const turns: Array<Turn> = []
  messages.forEach((message: unknown, i) => collect(message, `$.messages[${i}]`, turns, report))
  if (turns[0]?.role === "assistant") {
    report.add("first-message", "$.messages[0]", 'messages: first message must use the "user" role')
  }
  const ids = new Set<string>()
  turns.forEach((turn, i) => {
    if (turn.role === "user") return results(turn, turns[i - 1], report)
    calls(turn, turns[i + 1], ids, report)
    if (turns[i + 1] === undefined) {
      // Newer models take no beginning of an answer.
      report.add("last-message", turn.path, "the conversation must end with a user message")
    }
  })
  if (thinks)
    checkThought(
      turns.findLast(({ role }) => role === "assistant"),
      turns,
      report
    )
}

const collect = (message: unknown, path: string, turns: Array<Turn>, report: Report): void => {
  if (!isRecord(message)) return report.add("message-shape", path, "a message must be an object")
  const { role } = message
  if (role !== "user" && role !== "assistant") {
    return report.add("role-unknown", `${path}.role`, "role must be user or assistant")
  }
  const blocks = Blocks.read(message.content, role, `${path}.content`, report)
  const last = turns.at(-1)
  if (last?.role === role) last.blocks.push(...blocks)
  else turns.push({ role, path, blocks: [...blocks] })
}

const of = ({ blocks }: Turn, type: string) => blocks.filter(([block]) => block.type === type)

const calls = (turn: Turn, next: Turn | undefined, ids: Set<string>, report: Report): void => {
  const answered = new Set(next === undefined ? [] : of(next, "tool_result").map(([block]) => block.tool_use_id))
  for (const [block, path] of of(turn, "tool_use")) {
    if (typeof block.id !== "string") continue
    if (ids.has(block.id)) report.add("tool-call-id-duplicate", `${path}.id`, "`tool_use` ids must be unique")
    ids.add(block.id)
    if (!answered.has(block.id)) {
      const message = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${block.id}`
      report.add("tool-call-unanswered", path, message)
    }
  }
}

const results = (turn: Turn, before: Turn | undefined, report: Report): void => {
  const asked = new Set(before === undefined ? [] : of(before, "tool_use").map(([block]) => block.id))
  const seen = new Set<unknown>()
  let others = false
  for (const [block, path] of turn.blocks) {
    if (block.type !== "tool_result") {
      others = true
      continue
    }
    const id = block.tool_use_id
    if (!asked.has(id)) {
      report.add(
        "tool-result-unknown",
        path,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(id)}`
      )
    } else if (seen.has(id)) {
      report.add("tool-result-duplicate", path, "each tool_use must have a single result")
    } else if (others) {
      report.add("tool-result-order", path, "tool_result blocks must come first in the content of a message")
    }
    seen.add(id)
  }
}

const checkThought = (last: Turn | undefined, turns: ReadonlyArray<Turn>, report: Report): void => {
  const after = last === undefined ? undefined : turns[turns.indexOf(last) + 1]
  if (last === undefined || after === undefined || of(after, "tool_result").length === 0) return
  const first = last.blocks[0]?.[0].type
  if (first === "thinking" || first === "redacted_thinking") return
  const message = `Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first)}\``
  report.add("reasoning-missing", last.path, message)
}
