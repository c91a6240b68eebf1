/**
 * How things look. The sixteen colours of the terminal, so that they fit its background; none where none are wanted.
 */
import type { EditorTheme, MarkdownTheme, SelectListTheme } from "@earendil-works/pi-tui"

type Paint = (text: string) => string

export interface Theme {
  readonly color: boolean
  readonly bold: Paint
  readonly dim: Paint
  readonly accent: Paint
  readonly good: Paint
  readonly bad: Paint
  readonly warning: Paint
  readonly markdown: MarkdownTheme
  readonly editor: EditorTheme
}

const sgr =
  (on: number, off: number): Paint =>
  (text) =>
    `\u001b[${on}m${text}\u001b[${off}m`

const same: Paint = (text) => text

export const make = (color: boolean): Theme => {
  const paint = (on: number, off: number) => (color ? sgr(on, off) : same)
  const [bold, dim, italic] = [paint(1, 22), paint(2, 22), paint(3, 23)]
  const [accent, good, bad, warning] = [paint(36, 39), paint(32, 39), paint(31, 39), paint(33, 39)]
  const selectList: SelectListTheme = {
    selectedPrefix: accent,
    selectedText: accent,
    description: dim,
    scrollInfo: dim,
    noMatch: dim
  }
  return {
    color,
    bold,
    dim,
    accent,
    good,
    bad,
    warning,
    markdown: {
      heading: same,
      link: accent,
      linkUrl: dim,
      code: accent,
      codeBlock: same,
      codeBlockBorder: dim,
      quote: italic,
      quoteBorder: dim,
      hr: dim,
      listBullet: accent,
      bold,
      italic,
      strikethrough: paint(9, 29),
      underline: paint(4, 24)
    },
    editor: { borderColor: dim, selectList }
  }
}
