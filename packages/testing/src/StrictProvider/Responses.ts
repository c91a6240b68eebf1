/**
 * What OpenAI's Responses API refuses.
 */
import { isRecord } from "../ChatRequest.ts"
import * as Items from "./Responses/Items.ts"
import * as Parameters from "./Parameters.ts"
import type { Report } from "./Report.ts"
import * as Tools from "./Tools.ts"

type Raw = Readonly<Record<string, unknown>>

const efforts = new Set<unknown>(["none", "minimal", "low", "medium", "high", "xhigh"])

const rules: ReadonlyArray<Parameters.ParameterRule> = [
  ["stream", (v) => typeof v === "boolean", "a boolean"],
  ["store", (v) => typeof v === "boolean", "a boolean"],
  ["instructions", (v) => typeof v === "string", "a string"],
  ["temperature", (v) => typeof v === "number" && v >= 0 && v <= 2, "a number from 0 to 2"],
  ["max_output_tokens", (v) => Number.isSafeInteger(v) && Number(v) >= 16, "an integer of at least 16"],
  ["reasoning", isReasoning, "an object whose effort is one of none, minimal, low, medium, high, xhigh"],
  ["include", (v) => Array.isArray(v) && v.every((name) => typeof name === "string"), "an array of strings"]
]

/** Other endpoints have these; here they are unknown. */
const foreign = ["messages", "max_tokens", "stop", "reasoning_effort", "stream_options", "system"]

export const check = (body: Raw, report: Report): void => {
  Parameters.checkAll(body, rules, report)
  for (const name of foreign) {
    if (body[name] !== undefined) report.add("parameter", `$.${name}`, `Unknown parameter: '${name}'.`)
  }
  checkTools(body, report)
  Items.check(body.input, body.store === false, report)
}

const checkTools = ({ tool_choice: choice, tools }: Raw, report: Report): void => {
  if (tools === undefined) {
    if (choice !== undefined && choice !== "none" && choice !== "auto")
      report.add("tool-choice", "$.tool_choice", "tool_choice is only allowed with tools")
    return
  }
  if (!Array.isArray(tools)) return report.add("tools", "$.tools", "tools must be an array")
  const seen = new Set<string>()
  tools.forEach((tool: unknown, i) => {
    const path = `$.tools[${i}]`
    if (!isRecord(tool) || tool.type !== "function") {
      return report.add("tools", path, 'a tool must be {"type":"function","name":…,"parameters":{…}}')
    }
    Tools.checkTool(tool, tool.parameters, { path, schema: "parameters" }, seen, report)
    if (tool.strict === true && isRecord(tool.parameters) && !isClosed(tool.parameters)) {
      const message = "a strict schema has additionalProperties false and requires every property"
      report.add("tool-schema", `${path}.parameters`, message)
    }
  })
}

const isClosed = (schema: Raw): boolean => {
  const names = isRecord(schema.properties) ? Object.keys(schema.properties) : []
  const required: ReadonlyArray<unknown> = Array.isArray(schema.required) ? schema.required : []
  return schema.additionalProperties === false && names.every((name) => required.includes(name))
}

function isReasoning(value: unknown): boolean {
  return isRecord(value) && (value.effort === undefined || efforts.has(value.effort))
}
