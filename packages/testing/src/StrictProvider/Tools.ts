/**
 * The tool definitions of a request.
 */
import { isRecord } from "../ChatRequest.ts"
import { functionName } from "./Report.ts"
import type { Report } from "./Report.ts"

/** Reports definitions that a strict endpoint refuses; `undefined` means that the request offers no tools. */
export const check = (tools: unknown, report: Report): void => {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools) || tools.length === 0) {
    report.add("tools", "$.tools", "tools must be a non-empty array, or be omitted")
    return
  }
  const seen = new Set<string>()
  tools.forEach((tool: unknown, i) => {
    const path = `$.tools[${i}]`
    if (!isRecord(tool) || tool.type !== "function" || !isRecord(tool.function)) {
      report.add("tools", path, 'a tool must be {"type":"function","function":{…}}')
      return
    }
    checkTool(tool.function, tool.function.parameters, { path: `${path}.function`, schema: "parameters" }, seen, report)
  })
}

/** Reports what is wrong with one definition. `seen` holds the names of those before it. */
export const checkTool = (
  tool: Readonly<Record<string, unknown>>,
  parameters: unknown,
  at: { readonly path: string; readonly schema: string },
  seen: Set<string>,
  report: Report
): void => {
  checkName(tool.name, `${at.path}.name`, seen, report)
  checkSchema(parameters, `${at.path}.${at.schema}`, report)
  if (tool.description !== undefined && typeof tool.description !== "string") {
    report.add("tools", `${at.path}.description`, "a description must be a string")
  }
}

const checkName = (name: unknown, path: string, seen: Set<string>, report: Report): void => {
  if (typeof name !== "string" || !functionName.test(name)) {
    report.add("tool-name", path, `a function name must match ${functionName.source}`)
    return
  }
  if (seen.has(name)) report.add("tool-name-duplicate", path, `the function "${name}" is defined twice`)
  seen.add(name)
}

const checkSchema = (parameters: unknown, path: string, report: Report): void => {
  if (!isRecord(parameters) || parameters.type !== "object") {
    report.add("tool-schema", path, 'the schema of the parameters must be of type "object"')
    return
  }
  if (parameters.properties !== undefined && !isRecord(parameters.properties)) {
    report.add("tool-schema", `${path}.properties`, "properties must be an object")
  }
  const required = parameters.required
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    report.add("tool-schema", `${path}.required`, "required must be an array of strings")
  }
}
