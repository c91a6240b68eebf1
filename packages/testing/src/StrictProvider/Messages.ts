/**
 * What Anthropic's Messages API refuses.
 */
import { isRecord } from "../ChatRequest.ts"
import * as Turns from "./Messages/Turns.ts"
import * as Parameters from "./Parameters.ts"
import type { Report } from "./Report.ts"
import * as Tools from "./Tools.ts"

type Raw = Readonly<Record<string, unknown>>

const rules: ReadonlyArray<Parameters.ParameterRule> = [
  ["stream", (v) => typeof v === "boolean", "a boolean"],
  ["max_tokens", Parameters.isPositive, "a positive integer"],
  ["temperature", (v) => typeof v === "number" && v >= 0 && v <= 1, "a number from 0 to 1"],
  ["stop_sequences", isStop, "an array of strings that are not blank"],
  ["thinking", isThinking, '{"type":"enabled","budget_tokens":…}, adaptive or disabled']
]

/** Anything else is refused: extra inputs are not permitted. */
const known = new Set([
  ...["model", "messages", "system", "metadata", "service_tier", "tools", "tool_choice", "top_k", "top_p", "stream"],
  ...["max_tokens", "temperature", "stop_sequences", "thinking", "output_config", "cache_control", "context_management"]
])

export const check = (body: Raw, report: Report): void => {
  Parameters.checkAll(body, rules, report)
  if (body.max_tokens === undefined) report.add("parameter", "$.max_tokens", "max_tokens: Field required")
  for (const name of Object.keys(body)) {
    if (!known.has(name)) report.add("parameter", `$.${name}`, `${name}: Extra inputs are not permitted`)
  }
  const thinks = isRecord(body.thinking) && body.thinking.type === "enabled"
  if (thinks) checkBudget(body, report)
  if (body.system !== undefined) checkSystem(body.system, report)
  checkTools(body, report)
  Turns.check(body.messages, thinks, report)
}

const checkBudget = ({ max_tokens: ceiling, temperature, thinking }: Raw, report: Report): void => {
  const budget = isRecord(thinking) ? Number(thinking.budget_tokens) : 0
  if (!(budget >= 1024 && budget < Number(ceiling))) {
    const message = "budget_tokens must be at least 1024 and less than max_tokens"
    report.add("parameter", "$.thinking.budget_tokens", message)
  }
  if (temperature !== undefined && temperature !== 1) {
    report.add("parameter", "$.temperature", "temperature may only be set to 1 when thinking is enabled")
  }
}

const checkSystem = (system: unknown, report: Report): void => {
  if (typeof system === "string") return
  const blocks: ReadonlyArray<unknown> = Array.isArray(system) ? system : [system]
  blocks.forEach((block, i) => {
    if (!isRecord(block) || block.type !== "text" || typeof block.text !== "string") {
      report.add("content-shape", `$.system[${i}]`, "system must be a string or text blocks")
    } else if (block.text.trim() === "") {
      report.add("content-blank", `$.system[${i}]`, "system: text content blocks must contain non-whitespace text")
    }
  })
}

const checkTools = ({ tool_choice: choice, tools = [] }: Raw, report: Report): void => {
  if (!Array.isArray(tools)) return report.add("tools", "$.tools", "tools must be an array")
  if (tools.length === 0 && choice !== undefined) {
    report.add("tool-choice", "$.tool_choice", "tool_choice may only be specified while providing tools")
  }
  const seen = new Set<string>()
  tools.forEach((tool: unknown, i) => {
    const path = `$.tools[${i}]`
    if (!isRecord(tool) || (tool.type !== undefined && tool.type !== "custom")) {
      return report.add("tools", path, 'a tool must be {"name":…,"input_schema":{…}}')
    }
    Tools.checkTool(tool, tool.input_schema, { path, schema: "input_schema" }, seen, report)
  })
}

function isStop(value: unknown): boolean {
  return Array.isArray(value) && value.every((s) => typeof s === "string" && s.trim() !== "")
}

function isThinking(value: unknown): boolean {
  return isRecord(value) && ["enabled", "disabled", "adaptive"].includes(String(value.type))
}
