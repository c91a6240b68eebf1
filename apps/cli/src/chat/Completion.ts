/**
 * What a person may mean by the beginning of a word: the name of a command and what it takes, or `@` and a path.
 */
import type { Command } from "@dsh/commands/Commands"
import type { Candidate } from "@dsh/context/FileReferences"
import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui"
import * as Safe from "./Safe.ts"

export interface Sources {
  readonly commands: () => ReadonlyArray<Command>
  /** What may stand behind the name of a command. */
  readonly values: (command: string) => Promise<ReadonlyArray<AutocompleteItem>>
  readonly paths: (query: string) => Promise<ReadonlyArray<Candidate>>
}

/** The word that is being typed. */
type Begun =
  | { readonly kind: "path"; readonly word: string; readonly query: string }
  | { readonly kind: "command"; readonly word: string; readonly name: string }
  | { readonly kind: "value"; readonly word: string; readonly name: string }

const begun = (before: string, line: number): Begun | undefined => {
  const [path, plain, quoted] = /(?:^|\s)(@(?:"([^"]*)|([^"\s]*)))$/.exec(before)?.slice(1) ?? []
  if (path !== undefined) return { kind: "path", word: path, query: plain ?? quoted ?? "" }
  if (line > 0) return undefined
  const [, name, input] = /^\/([a-z0-9_-]*)(?:\s+(\S*))?$/.exec(before) ?? []
  if (name === undefined) return undefined
  return input === undefined ? { kind: "command", word: `/${name}`, name } : { kind: "value", word: input, name }
}

/** A path as it is written behind an `@`. */
const reference = (path: string): string => (/[\s"]/.test(path) ? `@"${path.replaceAll('"', "")}"` : `@${path}`)

const isMeant =
  (word: string) =>
  ({ label, value }: AutocompleteItem): boolean =>
    value.toLowerCase().startsWith(word.toLowerCase()) || label.toLowerCase().includes(word.toLowerCase())

export const make = ({ commands, paths, values }: Sources): AutocompleteProvider => {
  /** The word that the last answer was about: more may have been typed since. */
  let asked = ""

  const named = (begin: string): ReadonlyArray<AutocompleteItem> =>
    commands()
      .filter(({ name }) => name.startsWith(begin))
      .map(({ description, input, name }) => ({
        value: `/${name}`,
        label: input === undefined ? `/${name}` : `/${name} ${input.hint}`,
        description
      }))

  const itemsFor = async (word: Begun): Promise<ReadonlyArray<AutocompleteItem>> => {
    switch (word.kind) {
      case "path":
        return (await paths(word.query)).map(({ path }) => ({ value: reference(path), label: Safe.oneLine(path) }))
      case "value":
        return (await values(word.name)).filter(isMeant(word.word))
      case "command":
        return named(word.name)
    }
  }

  return {
    getSuggestions: async (lines, line, column) => {
      const word = begun((lines[line] ?? "").slice(0, column), line)
      if (word === undefined) return null
      const items = await itemsFor(word)
      asked = word.word
      return items.length === 0 ? null : { items: [...items], prefix: word.word }
    },

    applyCompletion: (lines, cursorLine, cursorCol, item) => {
      const unchanged = { lines, cursorLine, cursorCol }
      const current = lines[cursorLine] ?? ""
      const word = begun(current.slice(0, cursorCol), cursorLine)
      // Who types faster than the answer comes means what was typed.
      const meant =
        word?.word === asked ? item.value : word?.kind === "command" ? named(word.name)[0]?.value : undefined
      if (word === undefined || meant === undefined) return unchanged
      const before = current.slice(0, cursorCol - word.word.length)
      // A folder is gone into, anything else is done with.
      const isFolder = word.kind === "path" && /\/"?$/.test(meant)
      const value = isFolder ? meant : `${meant} `
      return {
        lines: lines.with(cursorLine, before + value + current.slice(cursorCol)),
        cursorLine,
        cursorCol: before.length + value.length - (isFolder && value.endsWith('"') ? 1 : 0)
      }
    }
  }
}
