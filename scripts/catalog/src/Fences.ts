/**
 * Code in written pages, taken from the files that are compiled and tested. Between
 *
 *   <!-- code: scratchpad/cookbook/tool.ts -->
 *   <!-- /code -->
 *
 * stands what the file says; with `tool.ts#name`, what it says between `// #region name` and `// #endregion`.
 */

const place = /(<!-- code: (\S+?)(?:#(\S+))? -->\n)[^]*?(<!-- \/code -->)/g

/** The page with its code as the files have it now. */
export const splice = (page: string, read: (path: string) => string): string =>
  page.replace(place, (_, open: string, path: string, region: string | undefined, close: string) => {
    const language = path.slice(path.lastIndexOf(".") + 1)
    const text = read(path)
    const shown = region === undefined ? withoutMarks(text) : regionOf(text, region, path)
    return `${open}\`\`\`${language}\n${shown.trimEnd()}\n\`\`\`\n${close}`
  })

const mark = /^[ \t]*\/\/ #(?:region|endregion)\b.*\n?/gm

const withoutMarks = (text: string): string => text.replace(mark, "")

const regionOf = (text: string, region: string, path: string): string => {
  const lines = text.split("\n")
  const start = lines.findIndex((line) => line.trim() === `// #region ${region}`)
  const end = lines.findIndex((line, i) => i > start && line.trim() === "// #endregion")
  if (start === -1 || end === -1)
    throw new Error(`${path} has no region "${region}"; mark it with // #region ${region} and // #endregion`)
  const inside = lines.slice(start + 1, end)
  const indent = Math.min(
    ...inside.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  )
  return inside.map((line) => line.slice(indent)).join("\n")
}
