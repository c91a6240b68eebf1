/**
 * A question with answers to choose from, in the place of the input.
 */
import { matchesKey, SelectList, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui"
import type { SelectItem } from "@earendil-works/pi-tui"
import type { Theme } from "./Theme.ts"

export interface Dialog {
  readonly render: (width: number) => ReadonlyArray<string>
  readonly key: (data: string) => void
  /** As Esc does. */
  readonly cancel: () => void
}

export interface Options {
  readonly theme: Theme
  readonly title: (width: number) => ReadonlyArray<string>
  readonly items: ReadonlyArray<SelectItem>
  /** The value that is marked first. */
  readonly standing?: string | undefined
  /** Answers have numbers, which choose them. */
  readonly numbered?: boolean
  readonly hint: string
  readonly choose: (value: string) => void
  readonly cancel: () => void
}

const mostVisible = 10

export const make = ({ cancel, choose, hint, items, numbered = false, standing, theme, title }: Options): Dialog => {
  const listed = items.map((item, i) => (numbered ? { ...item, label: `${i + 1}. ${item.label}` } : item))
  const longest = Math.max(0, ...listed.map(({ label }) => visibleWidth(label)))
  const list = new SelectList(listed, mostVisible, theme.editor.selectList, {
    minPrimaryColumnWidth: 12,
    maxPrimaryColumnWidth: Math.min(60, longest + 4)
  })
  list.onSelect = ({ value }) => choose(value)
  list.onCancel = cancel
  const at = items.findIndex(({ value }) => value === standing)
  if (at > 0) list.setSelectedIndex(at)
  return {
    cancel,
    render: (width) => [
      theme.dim("─".repeat(width)),
      ...title(width),
      ...list.render(width),
      theme.dim(truncateToWidth(hint, width, "…"))
    ],
    key: (data) => {
      const number = numbered && /^[1-9]$/.test(data) ? Number(data) : undefined
      const item = number === undefined ? undefined : items[number - 1]
      if (item !== undefined) choose(item.value)
      else if (matchesKey(data, "ctrl+c")) cancel()
      else list.handleInput(data)
    }
  }
}
