/**
 * Real pipes for what children print.
 *
 * Node gives a child sockets for pipes, and Linux cannot open a socket by its name: `echo oops > /dev/stderr` and `tee /dev/stdout`
 * would fail in commands that work everywhere else. So pipes are made by name, opened at both ends and unlinked.
 */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import * as Fs from "node:fs"
import { Socket } from "node:net"
import type { Readable } from "node:stream"
import type { PrivateFolder } from "./PrivateFolder.ts"

export interface NamedPipe {
  readonly readable: Readable
  /** The child's end; to be closed here as soon as the child has it. */
  readonly writeEnd: number
}

// One program run makes them all, so its cost is shared by as many commands.
const batch = 16

/**
 * A worker thread closes at its end the descriptors it opened, and does not notice that a socket has closed one before.
 * Not imported, because every program that may start a child would load it.
 */
const isMainThread = (): boolean => process.getBuiltinModule("node:worker_threads").isMainThread

export class NamedPipes {
  readonly #folder: PrivateFolder
  readonly #ready: Array<string> = []
  #available = process.platform === "linux"

  constructor(folder: PrivateFolder) {
    this.#folder = folder
  }

  /** A new pipe, or nothing where none can be made; Node's own have to do then. */
  get take(): Effect.Effect<NamedPipe | undefined> {
    return Effect.suspend(() => {
      if (!this.#available || !isMainThread()) return Effect.succeed(undefined)
      if (this.#ready.length > 0) return Effect.sync(() => this.#open())
      return Effect.map(this.#make, () => this.#open())
    })
  }

  get #make(): Effect.Effect<void> {
    return Effect.async((resume) => {
      const paths = Array.from({ length: batch }, () => this.#folder.place("pipe"))
      execFile("mkfifo", ["-m", "600", ...paths], (error) => {
        if (error === null) this.#ready.push(...paths)
        else this.#available = false
        resume(Effect.void)
      })
    })
  }

  #open(): NamedPipe | undefined {
    const path = this.#ready.pop()
    if (path === undefined) return undefined
    try {
      // The reader first and without waiting: then the writer finds somebody at the other end.
      const readEnd = Fs.openSync(path, Fs.constants.O_RDONLY | Fs.constants.O_NONBLOCK)
      const readable = new Socket({ fd: readEnd, readable: true, writable: false })
      const writeEnd = Fs.openSync(path, Fs.constants.O_WRONLY)
      Fs.unlinkSync(path)
      return { readable, writeEnd }
    } catch {
      this.#available = false
      return undefined
    }
  }
}
