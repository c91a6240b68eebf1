/**
 * An execution world without a disk: files in memory, and programs that are functions over them.
 */
import { Fs } from "@dsh/world/Fs"
import * as FsMemory from "@dsh/world/FsMemory"
import { Subprocess, SubprocessError } from "@dsh/world/Subprocess"
import type { Collect, CollectedRead, OutputMode } from "@dsh/world/Subprocess"
import { Effect, Layer, Stream } from "effect"
import * as MemoryPrograms from "./MemoryPrograms.ts"

const subprocess = (fs: Fs["Type"], files: FsMemory.MemoryFiles): Subprocess["Type"] => {
  const known = MemoryPrograms.make(fs, files)
  const missing = (name: string) =>
    new SubprocessError({ code: "SUBPROCESS_NOT_FOUND", message: `${name} is not there` })
  let started = 0

  const collect = (bytes: Buffer, { maxBytes, spill }: Collect, spillPath: string) =>
    Effect.gen(function* () {
      const isTooLong = spill !== undefined && bytes.length > maxBytes
      if (isTooLong)
        yield* Effect.orDie(Effect.flatMap(fs.resolve(spillPath, { cwd: "/" }), (to) => fs.write(to, bytes)))
      return (offset: number): CollectedRead => {
        const from = Math.max(offset, bytes.length - maxBytes)
        const read = { bytes: bytes.subarray(from), offset: from, nextOffset: bytes.length, lossy: from > offset }
        return isTooLong ? { ...read, spillPath } : read
      }
    })

  const output = (text: string, mode: OutputMode, path: string) =>
    Effect.gen(function* () {
      const bytes = Buffer.from(text)
      const read = yield* mode === "stream"
        ? collect(Buffer.alloc(0), { maxBytes: 1 }, path)
        : collect(bytes, mode, path)
      const stream = mode === "stream" ? Stream.make(bytes) : Stream.empty
      return { stream, collected: { readFrom: (offset: number) => Effect.sync(() => read(offset)) } }
    })

  return Subprocess.of({
    resolveExecutable: (name) => (name in known ? Effect.succeed(`/bin/${name}`) : missing(name)),
    openPty: () =>
      new SubprocessError({ code: "SUBPROCESS_NO_TERMINALS", message: "there are no terminals in memory" }),
    spawn: ({ argv: [path = "", ...args], cwd, stderr, stdout }) =>
      Effect.gen(function* () {
        const program = known[path.replace("/bin/", "")]
        if (program === undefined) return yield* missing(path)
        const pid = ++started
        const out = yield* output(yield* program(args, cwd), stdout, `/tmp/output-${pid}`)
        const err = yield* output("", stderr, `/tmp/errors-${pid}`)
        return {
          pid,
          exit: Effect.succeed({ exitCode: 0, signal: null, pipeHeld: false }),
          stdin: { write: () => Effect.void, end: Effect.void },
          stdout: out.stream,
          stderr: err.stream,
          collected: { stdout: out.collected, stderr: err.collected },
          terminate: Effect.void
        }
      })
  })
}

/** Work in `/w`. */
export const layer: Layer.Layer<Fs | Subprocess> = Layer.suspend(() => {
  const files = new FsMemory.MemoryFiles()
  files.makeFolder("/w")
  const fs = FsMemory.make(files)
  return Layer.merge(Layer.succeed(Fs, fs), Layer.succeed(Subprocess, subprocess(fs, files)))
})
