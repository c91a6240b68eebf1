/**
 * Help as people read it in a terminal: the documents of `@effect/cli`, set compactly.
 */
import * as HelpDoc from "@effect/cli/HelpDoc"
import type * as Span from "@effect/cli/HelpDoc/Span"
import * as Color from "./Color.ts"
import * as CommandLine from "./CommandLine.ts"
import { groups } from "./Grammar.ts"
import type { Page } from "./Grammar.ts"

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
  "  dsh COMMAND --help              what a command takes",
  "  dsh --completions SHELL         a completion script for bash, fish, sh or zsh",
  "  dsh --version                   the version",
  "",
  "Environment",
  '  DEEPSEEK_API_KEY                the key of the model provider; without it, what "dsh credentials" keeps',
  "  DEEPSEEK_BASE_URL               another address for it",
  "  DSH_PERMISSION_MODE             what commands and tools may change: read-only, workspace-write (as without it), danger-full-access",
  "  DSH_MAX_RETRIES                 how often a failed request to the model is tried again, instead of 5 times",
  "  DSH_TOOLS_MODE                  how the model uses tools: native (one by one, as without it), ptc (only from programs), both",
  "  DSH_MAX_REPEATS                 how often the same tool call may be made with the same result, instead of 12 times; 0: no limit",
  "  DSH_HOME                        where sessions, settings and keys are kept, instead of ~/.dsh",
  "  DSH_SESSION_STORE               sqlite: they are kept in a database there"
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
    ...(page === "dsh" ? footer : [])
  ]
  const bold = (line: string) => (color && /^[A-Z]/.test(line) ? `\u001b[1m${line}\u001b[0m` : line)
  return text.map(bold).join("\n")
}
