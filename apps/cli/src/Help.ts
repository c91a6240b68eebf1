/**
 * Help as people read it in a terminal: the documents of `@effect/cli`, set compactly.
 */
import * as HelpDoc from "@effect/cli/HelpDoc"
import type * as Span from "@effect/cli/HelpDoc/Span"
import * as Color from "./Color.ts"
import * as CommandLine from "./CommandLine.ts"
import * as Examples from "./Examples.ts"
import { groups } from "./Grammar.ts"
import type { CommandName, Page } from "./Grammar.ts"
import * as Topics from "./Topics.ts"

export interface Settings {
  readonly version: string
  /** Whether headings are bold. */
  readonly color: boolean
}

const footer = [
  "",
  "Also",
  `  dsh --profile headless "task"   the same as: dsh run "task"`,
  "  dsh --profile NAME --dump-config    what a profile is made of; --patch FILE changes it",
  "  dsh COMMAND --help              what a command takes, with examples",
  "  dsh help TOPIC                  about " + Object.keys(Topics.topics).join(", "),
  "  dsh --completions SHELL         a completion script for bash, fish, sh or zsh",
  "  dsh --version                   the version",
  "",
  "Environment",
  ...Topics.environment
]

/** Sentences `@effect/cli` adds to every argument and option. */
const boilerplate =
  /^(A user-defined piece of text|A true or false value|This setting is optional|This argument may be repeated .*)\.$/

const plain = (span: Span.Span): string => Color.strip(HelpDoc.toAnsiText(HelpDoc.p(span))).trim()

const heading = (span: Span.Span): string =>
  plain(span).replace(/^(.)(.*)$/, (_, first, rest) => first + rest.toLowerCase())

const lines = (doc: HelpDoc.HelpDoc, indent: string): ReadonlyArray<string> => {
  switch (doc._tag) {
    case "Empty":
      return []
    case "Header":
      return ["", heading(doc.value)]
    case "Paragraph": {
      const text = plain(doc.value)
      return text === "" || boilerplate.test(text) ? [] : [indent + text]
    }
    case "DescriptionList":
      return doc.definitions.flatMap(([term, body]) => [indent + plain(term), ...lines(body, `${indent}    `)])
    case "Enumeration":
      return doc.elements.flatMap((element) => lines(element, indent))
    case "Sequence":
      return [...lines(doc.left, indent), ...lines(doc.right, indent)]
  }
}

const exampleLines = (page: Page): ReadonlyArray<string> => {
  const group = groups.find((name) => name === page)
  const known =
    page === "dsh" ? [] : group === undefined ? Examples.examples[page as CommandName] : Examples.ofGroup(group)
  const width = Math.min(56, Math.max(...known.map(({ line }) => line.length)))
  return known.length === 0
    ? []
    : ["", "Examples", ...known.map(({ does, line }) => `  ${line.padEnd(width)}  # ${does}`)]
}

/** The page of one command, or of `dsh` itself. No newline at the end. */
export const render = (page: Page, { color, version }: Settings): string => {
  const { body, usage } = CommandLine.helpPage(page)
  const parents = page === "dsh" ? [] : ["dsh", ...page.split(" ").slice(0, -1)]
  const takesCommand = page === "dsh" || groups.some((group) => group === page) ? ["COMMAND"] : []
  const text = [
    `dsh ${version}, the Effect edition of DeepSeek Harness`,
    "",
    "Usage",
    `  ${[...parents, plain(HelpDoc.getSpan(usage)), ...takesCommand].join(" ")}`,
    ...lines(body, "  "),
    ...exampleLines(page),
    ...(page === "dsh" ? footer : [])
  ]
  return set(text, color)
}

/** The page of a topic. No newline at the end. */
export const topic = (name: Topics.Topic, { color }: Settings): string => set(Topics.page(name), color)

const set = (text: ReadonlyArray<string>, color: boolean): string =>
  text.map((line) => (color && /^[A-Z]/.test(line) ? `\u001b[1m${line}\u001b[0m` : line)).join("\n")
