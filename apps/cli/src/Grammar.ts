/**
 * The shape of the command line as data: commands, their options, and what else they take.
 *
 * `Argv` reads it without loading anything, so that a mistyped option is reported before a single library is
 * evaluated; `CommandLine` gives the same shape types, help and handlers. A test holds the two together.
 */

export interface Shape {
  /** Options that take a value: their name, and what the value is called in messages. */
  readonly options: Readonly<Record<string, string>>
  /** Options that take none. */
  readonly flags?: ReadonlyArray<string>
  /** What may stand beside the options: nothing, exactly one value of that name, at most one, exactly two, or the words of a task. */
  readonly words:
    | { readonly _tag: "None" }
    | { readonly _tag: "One"; readonly name: string }
    | { readonly _tag: "Maybe"; readonly name: string }
    | { readonly _tag: "Two"; readonly names: readonly [string, string] }
    | { readonly _tag: "Task" }
}

const none = { _tag: "None" } as const
const id = { _tag: "One", name: "ID" } as const

export const commands = {
  run: {
    options: {
      "--model": "ID",
      "--session": "ID",
      "--fork": "ID[@SEQ]",
      "--max-steps": "N",
      "--permission": "PRESET",
      "--preset": "ID"
    },
    flags: ["--continue", "--check-invariants", "--usage"],
    words: { _tag: "Task" }
  },
  demo: { options: {}, words: none },
  "permission allow": { options: {}, words: { _tag: "One", name: "RULE" } },
  "permission deny": { options: {}, words: { _tag: "One", name: "RULE" } },
  "permission list": { options: { "--session": "ID" }, flags: ["--json"], words: none },
  "permission revoke": { options: { "--session": "ID" }, words: { _tag: "One", name: "RULE" } },
  "preset copy": { options: {}, words: { _tag: "Two", names: ["FROM", "TO"] } },
  "preset list": { options: {}, flags: ["--json"], words: none },
  "preset remove": { options: {}, flags: ["--yes"], words: id },
  "preset show": { options: {}, words: id },
  "preset validate": { options: {}, words: { _tag: "Maybe", name: "ID|FOLDER" } },
  "session check": { options: {}, flags: ["--json"], words: id },
  "session delete": { options: {}, flags: ["--yes"], words: id },
  "session export": { options: {}, words: id },
  "session fork": { options: {}, words: { _tag: "One", name: "ID[@SEQ]" } },
  "session list": { options: {}, flags: ["--json"], words: none },
  "session repair": { options: {}, words: id },
  "session search": { options: {}, words: { _tag: "One", name: "TEXT" } },
  "session show": { options: {}, words: id },
  "session verify": { options: {}, words: id },
  "mock-llm": { options: { "--port": "N", "--scenario": "FILE" }, words: none }
} as const satisfies Readonly<Record<string, Shape>>

export type CommandName = keyof typeof commands

type GroupOf<Name> = Name extends `${infer Group} ${string}` ? Group : never

/** Commands that only hold others. */
export type Group = GroupOf<CommandName>

export const groups: ReadonlyArray<Group> = ["permission", "preset", "session"]

/** What `--help` can be about. */
export type Page = CommandName | Group | "dsh"

/** `--profile NAME` boots a composition; each profile hands the rest of the line to one command. */
export const profiles: ReadonlyMap<string, CommandName> = new Map([["headless", "run"]])

/** Understood before any command. */
export const rootOptions: ReadonlyArray<string> = ["--help", "--version", "--profile", "--completions"]

export const shells: ReadonlyArray<string> = ["bash", "fish", "sh", "zsh"]
