/**
 * The native parts of a terminal, loaded with the first one: node-pty opens it, and libc does what node-pty leaves out.
 *
 * node-pty leaves its end of a terminal open to every program that is started afterwards. Whoever has it can type into the shell on the
 * other end, however confined he is himself. So that end is closed on exec, in the tick in which it was opened.
 */
import * as Effect from "effect/Effect"
import type { IPty } from "@lydell/node-pty"
import { SubprocessError } from "../../Subprocess.ts"

export interface Size {
  readonly rows: number
  readonly cols: number
}

/** A terminal's master end, and what may be asked of it. Descriptors are ours from here on. */
export interface Master {
  readonly pty: IPty
  /** Of our own, so that it is not anybody else's when node-pty has closed the other. Does not block. */
  readonly fd: number
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

// <fcntl.h>
const F_SETFD = 2
const FD_CLOEXEC = 1
const F_DUPFD_CLOEXEC = process.platform === "darwin" ? 67 : 1030

const bind = async (): Promise<Native> => {
  const [{ default: koffi }, { default: nodePty }] = await Promise.all([import("koffi"), import("@lydell/node-pty")])
  const libc = koffi.load(null)
  const fcntl: (fd: number, command: number, type: "int", value: number) => number = libc.func(
    "int fcntl(int fd, int command, ...)"
  )
  const foreground: Native["foreground"] = libc.func("int tcgetpgrp(int fd)")
  const close: Native["close"] = libc.func("int close(int fd)")
  return {
    open: ([program, ...args], cwd, env, { cols, rows }) => {
      const pty = nodePty.spawn(program, args, { name: env["TERM"] ?? "dumb", cols, rows, cwd, env, encoding: null })
      const theirs = descriptorOf(pty)
      const fd = theirs === undefined ? -1 : fcntl(theirs, F_DUPFD_CLOEXEC, "int", 3)
      if (theirs !== undefined && fd >= 0 && fcntl(theirs, F_SETFD, "int", FD_CLOEXEC) === 0) return { pty, fd }
      pty.kill("SIGKILL")
      throw new Error("the terminal cannot be kept from other programs")
    },
    foreground,
    close
  }
}

const descriptorOf = (pty: IPty): number | undefined =>
  "fd" in pty && typeof pty.fd === "number" && pty.fd >= 0 ? pty.fd : undefined

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
