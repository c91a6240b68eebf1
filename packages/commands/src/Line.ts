/**
 * The line that gives a command: `/name`, and behind white space whatever the command makes of it.
 */

export interface Named {
  readonly name: string
  /** Without the white space in front of it. */
  readonly rawInput: string
}

export const isName = (text: string): boolean => /^[a-z][a-z0-9_-]*$/.test(text)

/** Nothing for what is no command: the slash comes first, and a name ends where it ends. */
export const parse = (line: string): Named | undefined => {
  const [, name, , rawInput] = /^\/([a-z][a-z0-9_-]*)(\s+([^]*))?$/.exec(line) ?? []
  return name === undefined ? undefined : { name, rawInput: rawInput ?? "" }
}
