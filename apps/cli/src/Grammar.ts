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
  /**
   * What may stand beside the options: nothing, exactly one value of that name, some values, the words of a task, or everything from the
   * first word on, for somebody else to understand. What else somebody types may be a `secret`: then it is not repeated, and that is
   * said instead.
   */
  readonly words:
    | { readonly _tag: "None" }
    | { readonly _tag: "One"; readonly name: string; readonly secret?: string }
    | { readonly _tag: "Some"; readonly least: number; readonly names: ReadonlyArray<string> }
    | { readonly _tag: "Task" }
    | { readonly _tag: "Rest"; readonly name: string }
}

const none = { _tag: "None" } as const
const typed = "a value is read from stdin or asked for, never taken from the command line"
const id = { _tag: "One", name: "ID" } as const

export const commands = {
  run: {
    options: {
      "--cwd": "DIR",
      "--file": "FILE",
      "--fork": "ID[@SEQ]",
      "--max-cost": "AMOUNT",
      "--max-steps": "N",
      "--max-tokens": "N",
      "--model": "ID",
      "--output-retries": "N",
      "--output-schema": "FILE",
      "--permission": "PRESET",
      "--preset": "ID",
      "--session": "ID",
      "--timeout": "TIME"
    },
    flags: ["--check-invariants", "--continue", "--json", "--usage", "--wait-background"],
    words: { _tag: "Task" }
  },
  chat: {
    options: { "--model": "ID", "--session": "ID", "--permission": "PRESET", "--preset": "ID", "--profile": "NAME" },
    flags: ["--continue"],
    words: { _tag: "Task" }
  },
  batch: {
    options: {
      "--concurrency": "N",
      "--retry": "N",
      "--timeout": "TIME",
      "--max-cost": "AMOUNT",
      "--out": "FILE",
      "--isolate": "HOW",
      "--model": "ID",
      "--permission": "PRESET",
      "--preset": "ID"
    },
    flags: ["--resume"],
    words: { _tag: "One", name: "FILE" }
  },
  demo: { options: {}, words: none },
  config: { options: { "--profile": "NAME" }, flags: ["--json"], words: none },
  "credentials list": { options: {}, flags: ["--json"], words: none },
  "credentials set": { options: {}, words: { _tag: "One", name: "NAME", secret: typed } },
  "credentials unset": { options: {}, words: { _tag: "One", name: "NAME", secret: typed } },
  doctor: { options: { "--profile": "NAME" }, flags: ["--json"], words: none },
  models: { options: {}, flags: ["--json"], words: none },
  "permission allow": { options: {}, words: { _tag: "One", name: "RULE" } },
  "permission deny": { options: {}, words: { _tag: "One", name: "RULE" } },
  "permission list": { options: { "--session": "ID" }, flags: ["--json"], words: none },
  "permission revoke": { options: { "--session": "ID" }, words: { _tag: "One", name: "RULE" } },
  plugin: { options: { "--profile": "NAME" }, words: { _tag: "Rest", name: "add PACKAGE" } },
  "preset copy": { options: {}, words: { _tag: "Some", least: 2, names: ["FROM", "TO"] } },
  "preset list": { options: {}, flags: ["--json"], words: none },
  "preset remove": { options: {}, flags: ["--yes"], words: id },
  "preset show": { options: {}, flags: ["--json"], words: id },
  "preset validate": { options: {}, words: { _tag: "Some", least: 0, names: ["ID|FOLDER"] } },
  "session check": { options: {}, flags: ["--json"], words: id },
  "session delete": { options: {}, flags: ["--yes"], words: id },
  "session diff": { options: {}, flags: ["--json"], words: { _tag: "One", name: "ID[@TURN]" } },
  "session export": { options: {}, words: id },
  "session fork": { options: {}, words: { _tag: "One", name: "ID[@SEQ]" } },
  "session list": { options: {}, flags: ["--json"], words: none },
  "session repair": { options: {}, words: id },
  "session rewind": {
    options: {},
    flags: ["--conversation", "--dry-run", "--files", "--force", "--yes"],
    words: { _tag: "One", name: "ID[@TURN]" }
  },
  "session search": { options: {}, flags: ["--json"], words: { _tag: "One", name: "TEXT" } },
  "session show": { options: {}, words: id },
  "session verify": { options: {}, words: id },
  "settings edit": { options: {}, words: none },
  "settings get": { options: {}, flags: ["--json"], words: { _tag: "Some", least: 0, names: ["PATH"] } },
  "settings set": { options: {}, words: { _tag: "Some", least: 2, names: ["PATH", "VALUE"] } },
  "settings unset": { options: {}, words: { _tag: "One", name: "PATH" } },
  "mock-llm": { options: { "--port": "N", "--scenario": "FILE" }, words: none }
} as const satisfies Readonly<Record<string, Shape>>

export type CommandName = keyof typeof commands

type GroupOf<Name> = Name extends `${infer Group} ${string}` ? Group : never

/** Commands that only hold others. */
export type Group = GroupOf<CommandName>

export const groups: ReadonlyArray<Group> = ["credentials", "permission", "preset", "session", "settings"]

/** What `--help` can be about. */
export type Page = CommandName | Group | "dsh"

/** What goes between `--profile NAME` and what the profile is told. */
export const launcherOptions: ReadonlyArray<string> = ["--patch", "--dump-config", "--dump-default-config"]

/** Understood before any command. */
export const rootOptions: ReadonlyArray<string> = ["--help", "--version", "--profile", "--completions"]

export const shells: ReadonlyArray<string> = ["bash", "fish", "sh", "zsh"]
