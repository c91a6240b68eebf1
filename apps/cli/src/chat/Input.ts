/**
 * The editor of a library, drawn by our screen: it only ever asks to be painted again.
 */
import { Editor, TUI } from "@earendil-works/pi-tui"
import type { Terminal } from "@earendil-works/pi-tui"
import type { Size } from "./Screen.ts"
import type { Theme } from "./Theme.ts"

class Surface extends TUI {
  readonly #changed: () => void

  constructor(terminal: Terminal, changed: () => void) {
    super(terminal, false)
    this.#changed = changed
  }

  override requestRender(): void {
    this.#changed()
  }
}

const nothing = (): void => {}

/** A terminal that only has a size. */
const sized = (size: () => Size): Terminal => ({
  start: nothing,
  stop: nothing,
  drainInput: () => Promise.resolve(),
  write: nothing,
  get columns() {
    return size().columns
  },
  get rows() {
    return size().rows
  },
  kittyProtocolActive: false,
  moveBy: nothing,
  hideCursor: nothing,
  showCursor: nothing,
  clearLine: nothing,
  clearFromCursor: nothing,
  clearScreen: nothing,
  setTitle: nothing,
  setProgress: nothing
})

export const make = (theme: Theme, size: () => Size, changed: () => void): Editor => {
  const editor = new Editor(new Surface(sized(size), changed), theme.editor, { autocompleteMaxVisible: 8 })
  editor.focused = true
  return editor
}
