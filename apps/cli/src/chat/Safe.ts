/**
 * Text from elsewhere, made fit for a terminal: what a model, a tool or a file name says is shown and never obeyed.
 */
import { stripVTControlCharacters } from "node:util"

/** Everything that moves, erases, beeps, or turns the order of what is read. Tabs and line feeds stay. */
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]/g

// oxlint-disable-next-line no-control-regex
const needed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]/

/** Colours and other sequences go, what is left of control characters is shown as �, and lines end in line feeds. */
export const text = (value: string): string =>
  needed.test(value) ? stripVTControlCharacters(value.replaceAll(/\r\n?/g, "\n")).replaceAll(controls, "\ufffd") : value

// oxlint-disable-next-line no-control-regex
const begun = /(?:\u001b(?:\[[0-?]{0,50}[ -/]{0,5}|\][^\u0007\u001b]{0,500})?|\r)$/

/** What can be read of text that comes in pieces, and the beginning of what only the next piece completes. */
export const complete = (value: string): readonly [ready: string, rest: string] => {
  const at = value.search(begun)
  return at === -1 ? [value, ""] : [value.slice(0, at), value.slice(at)]
}

/** The same, in one line. */
export const oneLine = (value: string): string => text(value).replaceAll(/\s+/g, " ").trim()

// oxlint-disable-next-line no-control-regex
const sequences = /\u001b\[[0-9;:]*m|\u001b|[\u0000-\u0008\u000a-\u001a\u001c-\u001f\u007f-\u009f]/g

/** The weights that are no colour: where none is wanted, the mark of the cursor is still one. */
// oxlint-disable-next-line no-control-regex
const inverse = /^\u001b\[(?:7|27|0)?m$/

/** A dash in a rule that is painted dash by dash. */
const seam = "\u001b[22m\u001b[2m"

/** A painted line as it may be written: colours and weights, and nothing else that a terminal would act upon. */
export const painted = (line: string, color: boolean): string =>
  line
    .replaceAll(sequences, (sequence) => (sequence.length > 1 && (color || inverse.test(sequence)) ? sequence : ""))
    .replaceAll(seam, "")
