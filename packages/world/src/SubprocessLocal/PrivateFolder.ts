/**
 * A folder that only this user can look into, made when it is first needed.
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

export class PrivateFolder {
  readonly #parent: string | undefined
  #path: string | undefined
  #count = 0

  /** @param parent Default: the system's temporary folder. */
  constructor(parent?: string) {
    this.#parent = parent
  }

  /** Path of something that does not exist yet. Throws what `node:fs` throws. */
  place(prefix: string, suffix = ""): string {
    if (this.#path === undefined) {
      const parent = this.#parent ?? Os.tmpdir()
      Fs.mkdirSync(parent, { recursive: true, mode: 0o700 })
      this.#path = Fs.mkdtempSync(Path.join(parent, "dsh-output-"))
    }
    return Path.join(this.#path, `${prefix}-${++this.#count}${suffix}`)
  }

  /** Removes the folder with everything in it; what cannot be removed is left to the system's own cleaning. */
  remove(): void {
    const path = this.#path
    this.#path = undefined
    try {
      if (path !== undefined) Fs.rmSync(path, { recursive: true, force: true })
    } catch {
      return
    }
  }
}
