/**
 * The output of a program, cut into records at a byte. Whatever the size of a record, only its beginning is kept, and for one that is
 * too long whoever reads it is told what came right after the text that it is cut in.
 */

export interface Record {
  readonly bytes: Buffer
  /** Of a record that was cut inside of a JSON string: the first bytes after that string. */
  readonly after?: string
}

export interface Options {
  readonly separator: number
  /** Bytes of a record that are kept. */
  readonly longest: number
  readonly take: (record: Record) => void
}

const quote = 0x22
const backslash = 0x5c
/** Enough for a line number. */
const afterBytes = 64

export class Records {
  /** Bytes kept so far, of all records. */
  kept = 0
  readonly #options: Options
  #pieces: Array<Buffer> = []
  #size = 0
  #cut: AfterString | undefined

  constructor(options: Options) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let at = 0
    for (;;) {
      const end = bytes.indexOf(this.#options.separator, at)
      this.#keep(bytes.subarray(at, end === -1 ? bytes.length : end))
      if (end === -1) return
      this.end()
      at = end + 1
    }
  }

  /** What is left is a record, too. */
  end(): void {
    if (this.#size === 0) return
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    const after = this.#cut?.text
    this.#pieces = []
    this.#size = 0
    this.#cut = undefined
    this.#options.take({ bytes, ...(after !== undefined && { after }) })
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return
    const room = this.#options.longest - this.#size
    const head = piece.subarray(0, room)
    if (head.length > 0) {
      // A piece of a chunk keeps all of the chunk in memory.
      this.#pieces.push(Buffer.from(head))
      this.#size += head.length
      this.kept += head.length
    }
    if (piece.length <= room) return
    this.#cut ??= new AfterString(this.#pieces)
    this.#cut.skip(piece.subarray(room))
  }
}

/** Looks for the end of the string that a record was cut in. */
class AfterString {
  text = ""
  #escaped = false
  #isOutside = false

  constructor(head: ReadonlyArray<Buffer>) {
    const last = head.at(-1)
    let slashes = 0
    while (last !== undefined && last[last.length - 1 - slashes] === backslash) slashes++
    this.#escaped = slashes % 2 === 1
  }

  skip(bytes: Buffer): void {
    let at = 0
    while (!this.#isOutside && at < bytes.length) {
      const byte = bytes[at++]
      if (this.#escaped) this.#escaped = false
      else if (byte === backslash) this.#escaped = true
      else if (byte === quote) this.#isOutside = true
    }
    if (this.#isOutside && this.text.length < afterBytes) {
      this.text += bytes.toString("latin1", at, at + afterBytes - this.text.length)
    }
  }
}
