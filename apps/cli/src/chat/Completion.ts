/**
 * What a person may mean by the beginning of a word: the name of a command and what it takes, or `@` and a path.
 */
import type { Command } from "@dsh/commands/Commands"
import type { Candidate } from "@dsh/context/FileReferences"
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui"
import * as Safe from "./Safe.ts"

export interface Sources {
  readonly commands: () => ReadonlyArray<Command>
  /** What may stand behind the name of a command. */
  readonly values: (command: string) => Promise<ReadonlyArray<AutocompleteItem>>
  readonly paths: (query: string) => Promise<ReadonlyArray<Candidate>>
}

type Suggested = AutocompleteSuggestions | null

const none: Suggested = null

const suggested = (items: ReadonlyArray<AutocompleteItem>, prefix: string): Suggested =>
  items.length === 0 ? none : { items: [...items], prefix }

/** A path as it is written behind an `@`. */
const reference = (path: string): string => (/[\s"]/.test(path) ? `@"${path.replaceAll('"', "")}"` : `@${path}`)

const isBegun = (query: string) => {
  const wanted = query.toLowerCase()
  return ({ label, value }: AutocompleteItem): boolean =>
    value.toLowerCase().startsWith(wanted) || label.toLowerCase().includes(wanted)
}

export const make = ({ commands, paths, values }: Sources): AutocompleteProvider => ({
  getSuggestions: async (lines, line, column) => {
    const before = (lines[line] ?? "").slice(0, column)
    const [path, query] = /(?:^|\s)(@"?([^"\s]*|(?<=")[^"]*))$/.exec(before)?.slice(1) ?? []
    if (path !== undefined) {
      const found = await paths(query ?? "")
      return suggested(
        found.map((candidate) => ({ value: reference(candidate.path), label: Safe.oneLine(candidate.path) })),
        path
      )
    }
    if (line > 0) return none
    const [, name, input] = /^\/([a-z0-9_-]*)(?:\s+(\S*))?$/.exec(before) ?? []
    if (name === undefined) return none
    if (input !== undefined) return suggested((await values(name)).filter(isBegun(input)), input)
    const named = commands().filter((command) => command.name.startsWith(name))
    return suggested(
      named.map((command) => ({
        value: `/${command.name}`,
        label: command.input === undefined ? `/${command.name}` : `/${command.name} ${command.input.hint}`,
        description: command.description
      })),
      `/${name}`
    )
  },

  applyCompletion: (lines, cursorLine, cursorCol, item, prefix) => {
    const current = lines[cursorLine] ?? ""
    const before = current.slice(0, cursorCol - prefix.length)
    // A folder is gone into, anything else is done with.
    const isFolder = item.value.startsWith("@") && /\/"?$/.test(item.value)
    const value = isFolder ? item.value : `${item.value} `
    const column = before.length + value.length - (isFolder && value.endsWith('"') ? 1 : 0)
    return {
      lines: lines.with(cursorLine, before + value + current.slice(cursorCol)),
      cursorLine,
      cursorCol: column
    }
  }
})
