/**
 * The tags of DeepSeek's tool-call markup, in every spelling they have been seen to leak in: the bars around `DSML` full-width, ASCII or
 * double, one or two of them; or the marker gone altogether, where a server drops special tokens from the text.
 */

const bars = "[|｜‖∥]"
const marker = `${bars}{1,2} ?DSML ?${bars}{1,2}`

/** What markup begins with. */
const opening = new RegExp(`<(?:/?${marker}|(?:tool_calls|function_calls)>|invoke name=")`, "iy")
const openings = ["<tool_calls>", "<function_calls>", '<invoke name="']
const cutMarker = new RegExp(`^</?(?:${bars}{1,2} ?(?:D|DS|DSM|DSML ?)?)?$`, "i")

/** What stands at `at`, a `<`: the beginning of markup, what may become one when more text comes, or neither. */
export const look = (text: string, at: number): "markup" | "perhaps" | "no" => {
  if (isHarmless(text, at)) return "no"
  opening.lastIndex = at
  if (opening.test(text)) return "markup"
  const rest = text.slice(at, at + longestOpening)
  const isCut = at + longestOpening >= text.length
  return isCut && (cutMarker.test(rest) || openings.some((whole) => whole.startsWith(rest))) ? "perhaps" : "no"
}

const longestOpening = 20

// Most of what is not markup is told by one character, and answers can be full of other people's tags.
const isHarmless = (text: string, at: number): boolean => {
  const isClosing = text.charCodeAt(at + 1) === slash
  const next = isClosing ? at + 2 : at + 1
  return next < text.length && !(isClosing ? afterSlash : afterBracket).includes(text.charAt(next))
}

const slash = 0x2f
const afterSlash = "|｜‖∥"
const afterBracket = `${afterSlash}tTfFiI`

/** Whether markup that begins like this says `DSML`. */
export const isMarked = (text: string): boolean => new RegExp(`^</?${bars}`).test(text)

export interface Tag {
  readonly kind: "calls" | "invoke" | "parameter" | "other"
  readonly isClosing: boolean
  /** It says `DSML`. */
  readonly isMarked: boolean
  readonly attributes: string
  /** Behind its `>`. */
  readonly end: number
}

const tag = new RegExp(`<(/?)(${marker})? ?([A-Za-z_]{0,40})((?:\\s[^<>]{0,500})?)>`, "iy")
const cutTag = new RegExp(
  `^</?(?:${bars}{1,2} ?(?:D|DS|DSM|DSML ?${bars}{0,2})?)? ?[A-Za-z_]{0,40}(?:\\s[^<>]{0,500})?$`,
  "i"
)
const longestTag = 600

/** The tag at `at`, a `<`; `cut` when its end may still come, nothing when there is none. */
export const read = (text: string, at: number): Tag | "cut" | undefined => {
  tag.lastIndex = at
  const match = tag.exec(text)
  if (match === null) return text.length - at <= longestTag && cutTag.test(text.slice(at)) ? "cut" : undefined
  const [whole, slash, mark, name = "", attributes = ""] = match
  return {
    kind: kindOf(name),
    isClosing: slash === "/",
    isMarked: mark !== undefined,
    attributes,
    end: at + whole.length
  }
}

const kindOf = (name: string): Tag["kind"] => {
  if (name === "invoke" || name === "parameter") return name
  return /^(?:(?:tool|function)_?)?calls?$/.test(name) ? "calls" : "other"
}

/** The name of the tool. */
export const invoked = ({ attributes }: Tag): string | undefined => /^\s+name="([^"]+)"\s*$/.exec(attributes)?.[1]

/** The name of a parameter, and whether its value is text rather than JSON. */
export const parameter = ({ attributes }: Tag): { readonly name: string; readonly isText: boolean } | undefined => {
  const [, name, isText] = /^\s+name="([^"]+)"\s+string="(true|false)"\s*$/.exec(attributes) ?? []
  return name === undefined ? undefined : { name, isText: isText === "true" }
}

const anyMarker = new RegExp(marker, "gi")

/** The same text without markers, in which all spellings are one. */
export const canonical = (text: string): string => text.replace(anyMarker, "")
