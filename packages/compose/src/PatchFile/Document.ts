/**
 * The YAML of a composition: plain data and the four dynamic values, each with the line it stands on. Loaded when there is a file to read.
 */
import { LineCounter, Scalar, YAMLMap, isNode, parseDocument, stringify } from "yaml"
import type { CollectionTag, ScalarTag } from "yaml"
import { EnvValue, PathValue, PlatformValue } from "../Dynamic.ts"
import type { Path } from "../PatchData.ts"

/** Counts from 1. */
interface Fault {
  readonly line: number
  readonly reason: string
  readonly isDynamic: boolean
}

export type Parsed =
  | { readonly _tag: "Faulty"; readonly fault: Fault }
  | { readonly _tag: "Data"; readonly data: unknown; readonly lineOf: (path: Path) => number | undefined }

/** Told apart from what the YAML reader says itself. */
const mark = "dynamic value: "

const variable = /^[A-Za-z_][A-Za-z0-9_]*$/

const words = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((word) => word !== "")

const env: ScalarTag = {
  tag: "!env",
  resolve: (text, fail) => {
    if (variable.test(text)) return new EnvValue(text)
    fail(`${mark}!env takes the name of a variable, not "${text}"`)
    return text
  },
  identify: (value) => value instanceof EnvValue,
  stringify: ({ value }) => {
    if (!(value instanceof EnvValue)) return ""
    const { fallback, variable } = value
    return fallback === undefined ? variable : `{ name: ${variable}, default: ${JSON.stringify(fallback)} }`
  }
}

const envMap: CollectionTag = {
  tag: "!env",
  collection: "map",
  resolve: (node, fail) => {
    const {
      default: fallback,
      name,
      ...others
    } = node instanceof YAMLMap ? (node.toJSON() as Readonly<Record<string, unknown>>) : {}
    const scalar = new Scalar<unknown>(undefined)
    if (typeof name === "string" && variable.test(name) && Object.keys(others).length === 0) {
      scalar.value = new EnvValue(name, fallback)
    } else fail(`${mark}!env takes { name: VARIABLE, default: VALUE } and nothing else`)
    return scalar
  }
}

const path = (kind: "home" | "cwd"): ScalarTag => ({
  tag: `!${kind}`,
  resolve: (text, fail) => {
    const relative = text.trim()
    if (relative.startsWith("/") || relative.split("/").includes("..")) {
      fail(`${mark}!${kind} takes a path under that folder, not "${relative}"`)
    }
    return new PathValue(kind, relative)
  },
  identify: (value) => value instanceof PathValue && value.kind === kind,
  stringify: ({ value }) => (value instanceof PathValue ? value.path : "")
})

const platform: ScalarTag = {
  tag: "!platform",
  resolve: (text, fail) => {
    const platforms = words(text)
    if (platforms.length === 0) fail(`${mark}!platform takes a name, for example win32`)
    return new PlatformValue(platforms)
  },
  identify: (value) => value instanceof PlatformValue,
  stringify: ({ value }) => (value instanceof PlatformValue ? value.platforms.join(" ") : "")
}

const customTags = [env, envMap, path("home"), path("cwd"), platform]

export const parse = (text: string): Parsed => {
  const counter = new LineCounter()
  const document = parseDocument(text, { customTags, lineCounter: counter, prettyErrors: false, uniqueKeys: true })
  const [error] = [...document.errors, ...document.warnings]
  if (error !== undefined) {
    const { line } = counter.linePos(error.pos[0])
    const message = error.message.replace(mark, "")
    const reason = message.startsWith("Unresolved tag")
      ? `${message} (there are !env, !home, !cwd and !platform)`
      : message
    const isDynamic = message !== error.message || reason !== message
    return { _tag: "Faulty", fault: { line, reason, isDynamic } }
  }
  let data: unknown
  try {
    // A few aliases can stand for more than fits into memory; the reader refuses those.
    data = document.toJS()
  } catch (cause) {
    return { _tag: "Faulty", fault: { line: 1, reason: String(cause), isDynamic: false } }
  }
  return {
    _tag: "Data",
    data,
    lineOf: (at) => {
      for (let length = at.length; length > 0; length--) {
        const node: unknown = document.getIn(at.slice(0, length), true)
        if (isNode(node) && node.range) return counter.linePos(node.range[0]).line
      }
      return undefined
    }
  }
}

/** The text without some keys of its map, comments and all else as they are. Undefined when it is no YAML. */
export const without = (text: string, keys: ReadonlyArray<string>): string | undefined => {
  const document = parseDocument(text, { customTags, prettyErrors: false })
  if (document.errors.length > 0) return undefined
  const { contents } = document
  if (!(contents instanceof YAMLMap)) return text
  for (const key of keys) contents.delete(key)
  return document.toString({ lineWidth: 0 })
}

/** YAML text of plain data and dynamic values. */
export const print = (value: unknown): string =>
  stringify(value, { customTags: customTags.filter((tag) => tag !== envMap), lineWidth: 0 })
