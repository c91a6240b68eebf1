/**
 * A folder that only this user can look into, made when it is first needed, and single files in the folders of others.
 */
import { randomBytes } from "node:crypto"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

export class PrivateFolder {
  readonly #parent: string | undefined
  #path: string | undefined
  #count = 0
  readonly #elsewhere: Array<string> = []

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

  /**
   * Path of something that does not exist yet, in a folder that is there. Others may change that folder, so it has a name that nobody
   * can guess, and a file is to be made of it that is not there yet.
   */
  placeIn(folder: string, prefix: string, suffix = ""): string {
    const path = Path.join(folder, `dsh-${prefix}-${randomBytes(6).toString("hex")}${suffix}`)
    this.#elsewhere.push(path)
    return path
  }

  /** Removes the folder with everything in it, and the files elsewhere; what cannot be removed is left to the system's own cleaning. */
  remove(): void {
    const path = this.#path
    this.#path = undefined
    for (const file of this.#elsewhere.splice(0)) attempt(() => Fs.unlinkSync(file))
    if (path !== undefined) attempt(() => Fs.rmSync(path, { recursive: true, force: true }))
  }
}

const attempt = (step: () => void): void => {
  try {
    step()
  } catch {
    return
  }
}
