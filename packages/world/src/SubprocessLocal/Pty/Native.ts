/**
 * The native parts of a terminal, loaded with the first one: node-pty opens it, and libc does what node-pty leaves out.
 *
 * node-pty leaves its end of a terminal open to every program that is started afterwards. Whoever has it can type into the shell on the
 * other end, however confined he is himself. And it gives up reading a moment after the end of the program, whatever is still to be read.
 * So in the tick in which the terminal is opened we take copies of its descriptor that no other program inherits, and it has to let go of
 * its own.
 */
import * as Effect from "effect/Effect"
import type { IPty } from "@lydell/node-pty"
import { ReadStream } from "node:tty"
import { SubprocessError } from "../../Subprocess.ts"

export interface Size {
  readonly rows: number
  readonly cols: number
}

/** A terminal's master end, in descriptors of our own, which do not block. */
export interface Master {
  /** For its pid and its end; nothing else of it is used. */
  readonly pty: IPty
  /** Closes what it reads from. */
  readonly output: ReadStream
  readonly input: number
}

export interface Native {
  /** Throws when the terminal cannot be had. */
  readonly open: (
    argv: readonly [string, ...Array<string>],
    cwd: string,
    env: Record<string, string>,
    size: Size
  ) => Master
  /** The foreground process group; not positive when there is none. */
  readonly foreground: (fd: number) => number
  readonly close: (fd: number) => void
}

type Fcntl = (fd: number, command: number, type: "int", value: number) => number

// <fcntl.h>
const F_DUPFD_CLOEXEC = process.platform === "darwin" ? 67 : 1030

const bind = async (): Promise<Native> => {
  const [{ default: koffi }, { default: nodePty }] = await Promise.all([import("koffi"), import("@lydell/node-pty")])
  const libc = koffi.load(null)
  const fcntl: Fcntl = libc.func("int fcntl(int fd, int command, ...)")
  const foreground: Native["foreground"] = libc.func("int tcgetpgrp(int fd)")
  const close: Native["close"] = libc.func("int close(int fd)")
  return {
    open: ([program, ...args], cwd, env, { cols, rows }) => {
      const pty = nodePty.spawn(program, args, { name: env["TERM"] ?? "dumb", cols, rows, cwd, env, encoding: null })
      const [output, input] = ours(pty, fcntl)
      if (output >= 0 && input >= 0) return { pty, output: new ReadStream(output), input }
      pty.kill("SIGKILL")
      throw new Error("the terminal cannot be kept from other programs")
    },
    foreground,
    close
  }
}

/** Two descriptors instead of that of node-pty, negative when there are none. */
const ours = (pty: IPty, fcntl: Fcntl): readonly [number, number] => {
  if (!("fd" in pty) || typeof pty.fd !== "number") return [-1, -1]
  if (!("_socket" in pty) || !(pty._socket instanceof ReadStream)) return [-1, -1]
  const { _socket: socket, fd } = pty
  const copies = [fcntl(fd, F_DUPFD_CLOEXEC, "int", 3), fcntl(fd, F_DUPFD_CLOEXEC, "int", 3)] as const
  socket.destroy()
  return copies
}

let loaded: Promise<Native> | undefined

/** Fails with `SUBPROCESS_NO_TERMINALS`. */
export const native: Effect.Effect<Native, SubprocessError> = Effect.suspend(() => {
  if (process.platform === "win32") return Effect.fail(missing("there are none on Windows yet"))
  return Effect.tryPromise({
    try: () => (loaded ??= bind()),
    catch: (cause) => missing(`${String(cause)}; install again, with optional dependencies`, cause)
  })
})

const missing = (why: string, cause?: unknown): SubprocessError =>
  new SubprocessError({ code: "SUBPROCESS_NO_TERMINALS", message: `no terminal can be opened: ${why}`, cause })
