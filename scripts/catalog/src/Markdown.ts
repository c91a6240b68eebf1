/**
 * The few things of Markdown that generated pages are made of.
 */

/** Text with a pipe would end its cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ")

/** Nothing for a table without rows. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  rows.length === 0
    ? ""
    : [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

/** A code span, also of text with backticks. */
export const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``)

/** What a heading is linked by. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-")

/** Paragraphs, tables and headings; the empty ones are left out. */
export const page = (...parts: ReadonlyArray<string>): string => `${parts.filter((part) => part !== "").join("\n\n")}\n`
