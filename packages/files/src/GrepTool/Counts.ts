/**
 * The output of a search that counts, `path NUL count LF` for each file, read record by record at the NULs: a path may hold a line feed.
 */

export class Counts {
  readonly #take: (path: string, count: number) => void
  #path: string | undefined

  constructor(take: (path: string, count: number) => void) {
    this.#take = take
  }

  push(record: Buffer): void {
    const text = record.toString("utf8")
    if (this.#path === undefined) {
      this.#path = text
      return
    }
    const end = text.indexOf("\n")
    const count = Number(end === -1 ? text : text.slice(0, end))
    if (Number.isSafeInteger(count)) this.#take(this.#path, count)
    this.#path = end === -1 ? undefined : text.slice(end + 1)
  }
}
