/**
 * The top-level parameters of a request, apart from messages and tools.
 */
import { isRecord } from "../ChatRequest.ts"
import type { Report } from "./Report.ts"

type Body = Readonly<Record<string, unknown>>

/** Whether the request asks for thinking mode, in which tool turns must carry their reasoning. */
export const isThinking = (body: Body): boolean => isRecord(body.thinking) && body.thinking.type === "enabled"

const efforts = new Set<unknown>(["low", "medium", "high", "max"])

/** A parameter, which values of it are accepted, and how they are described. */
export type ParameterRule = readonly [name: string, accepts: (value: unknown) => boolean, expected: string]

const rules: ReadonlyArray<ParameterRule> = [
  ["stream", (v) => typeof v === "boolean", "a boolean"],
  ["stream_options", isRecord, "an object"],
  ["thinking", (v) => isRecord(v) && (v.type === "enabled" || v.type === "disabled"), '{"type":"enabled"|"disabled"}'],
  ["reasoning_effort", (v) => efforts.has(v), "one of low, medium, high, max"],
  ["temperature", (v) => typeof v === "number" && v >= 0 && v <= 2, "a number from 0 to 2"],
  ["max_tokens", isPositive, "a positive integer"],
  ["stop", isStop, "a string or an array of at most 16 strings"]
]

/** Reports every parameter a strict endpoint refuses. */
export const check = (body: Body, report: Report): void => {
  checkAll(body, rules, report)
  if (body.stream_options !== undefined && body.stream !== true) {
    report.add("parameter", "$.stream_options", "stream_options is only allowed when stream is true")
  }
}

/** Reports a missing model and whatever breaks one of `rules`. */
export const checkAll = (body: Body, rules: ReadonlyArray<ParameterRule>, report: Report): void => {
  if (typeof body.model !== "string" || body.model === "") report.add("parameter", "$.model", "model is required")
  for (const [name, accepts, expected] of rules) {
    const value = body[name]
    if (value !== undefined && value !== null && !accepts(value)) {
      report.add("parameter", `$.${name}`, `${name} must be ${expected}`)
    }
  }
  for (const [name, value] of Object.entries(body)) {
    if (value === null) report.add("null-parameter", `$.${name}`, `${name} must be omitted instead of null`)
  }
}

export function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function isStop(value: unknown): boolean {
  return (
    typeof value === "string" ||
    (Array.isArray(value) && value.length > 0 && value.length <= 16 && value.every((s) => typeof s === "string"))
  )
}
