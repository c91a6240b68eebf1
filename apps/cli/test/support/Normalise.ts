/**
 * What two runs of one scenario have in common: everything but ids, times, folders and what follows from them. The numbers of events
 * stay, because the order is part of what is compared.
 */

/** Texts that one scenario shows, and that stand for themselves in all others. */
export interface Pins {
  readonly system: string
  readonly tools: string
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

export const normalise = (
  text: string,
  { cwd, pins }: { readonly cwd: string; readonly pins?: Pins | undefined }
): string => {
  const ids = new Map<string, string>()
  const plain = text
    .replaceAll(cwd, "{{cwd}}")
    .replaceAll(uuid, (id) => {
      const known = ids.get(id) ?? `{{id ${ids.size + 1}}}`
      ids.set(id, known)
      return known
    })
    .replaceAll(/"(time|createdAt)":\d+/g, '"$1":0')
    // The digest is of the folder and the ids, too.
    .replaceAll(/"sha256":"[0-9a-f]{64}"/g, '"sha256":"{{digest}}"')
    .replaceAll(/"bytes":\d+/g, '"bytes":0')
    .replaceAll(/\bin \d+\.\d s:/g, "in {{wait}} s:")
    .replaceAll(/"delayMs":\d+/g, '"delayMs":0')
    .replaceAll(/: \d+ bytes, rebuilt/g, ": {{bytes}} bytes, rebuilt")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "{{date}}")
    .replaceAll(/"durationMs":[\d.]+/g, '"durationMs":0')
  return pins === undefined
    ? plain
    : plain.replaceAll(pins.system, '"{{system}}"').replaceAll(pins.tools, '"{{tools}}"')
}

/** A log without the chunks of the answers: they are those of the cassette, and how they share rows is a matter of time. */
export const withoutChunks = (log: string): string =>
  log
    .split("\n")
    .filter((line) => !/^\{"type":"(assistant\/chunk|[a-z-]+-chunks)"/.test(line))
    .join("\n")

/** The system prompt and the tools of the first request of a log, as they stand there. */
export const pinned = (log: string): Pins => {
  const line = log.split("\n").find((one) => one.includes('"type":"request/header"')) ?? ""
  const { header } = (JSON.parse(line) as { readonly data: { readonly header: Header } }).data
  return { system: JSON.stringify(header.system), tools: JSON.stringify(header.tools) }
}

interface Header {
  readonly system: string
  readonly tools: ReadonlyArray<unknown>
}
