/**
 * Rules about what a program prints: what is kept of it, where all of it is, and reading it as it comes.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { holds, refused, same } from "../ContractViolation.ts"
import type { CollectedOutput, CollectedRead } from "../Subprocess.ts"
import type { ContractCase, World } from "../SubprocessContract.ts"
import * as Bash from "./Bash.ts"

const numbers = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join("")

/** What the files of the world have at the place of a spilled stream. */
const spilled = ({ cwd, fs }: World, { spillPath = "(none)" }: CollectedRead) =>
  Effect.gen(function* () {
    const target = yield* fs.resolve(spillPath, { cwd })
    const stat = yield* fs.stat(target)
    const { bytes } = yield* fs.readBytes(target)
    return { mode: stat?.mode, text: Bash.textOf(bytes) }
  })

/** Looks again until so many bytes have come. */
const comeTo = ({ readFrom }: CollectedOutput, size: number) =>
  Effect.repeat(Effect.delay(readFrom(0), 2), { until: ({ nextOffset }) => nextOffset >= size })

export const collecting: ReadonlyArray<ContractCase> = [
  {
    name: "of long output the end is in memory, and all of it in a private file of the same world",
    run: (world) =>
      Effect.gen(function* () {
        const { bash, run } = yield* Bash.open(world)
        const process = yield* bash("echo begin; read; seq 1 20000; echo end >&2", {
          stdin: "pipe",
          stdout: { maxBytes: 1000, spill: { maxBytes: 1_000_000 } },
          stderr: { maxBytes: 1000, spill: { maxBytes: 1_000_000 } }
        })
        // What was in memory when it became too much belongs to the file.
        yield* comeTo(process.collected.stdout, 6)
        yield* process.stdin.write(Bash.bytesOf("go\n"))
        yield* process.exit
        const all = `begin\n${numbers}`
        const read = yield* process.collected.stdout.readFrom(0)
        yield* same("the end", Bash.textOf(read.bytes), all.slice(-1000))
        yield* same("where it is", [read.offset, read.nextOffset, read.lossy], [all.length - 1000, all.length, true])
        const file = yield* spilled(world, read)
        yield* holds("the file has all of it", file.text === all)
        yield* same("it is private", file.mode, 0o600)
        const seen = yield* run(`wc -c <'${read.spillPath}'`)
        yield* same("programs see it", seen.stdout.trim(), String(all.length))
        const later = yield* process.collected.stdout.readFrom(all.length - 6)
        yield* same("later", [Bash.textOf(later.bytes), later.lossy], ["20000\n", false])
        const short = yield* process.collected.stderr.readFrom(0)
        yield* same(
          "short output",
          [Bash.textOf(short.bytes), short.lossy, short.spillPath],
          ["end\n", false, undefined]
        )
      })
  },
  {
    name: "output that is read again and again is told once, and while it comes",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const process = yield* bash("echo one; read; echo two", { stdin: "pipe", stderr: "stream" })
        const { readFrom } = process.collected.stdout
        const first = yield* comeTo(process.collected.stdout, 1)
        yield* same("first", [Bash.textOf(first.bytes), first.nextOffset], ["one\n", 4])
        yield* same("nothing new", (yield* readFrom(first.nextOffset)).bytes.length, 0)
        yield* process.stdin.write(Bash.bytesOf("go\n"))
        yield* process.exit
        const second = yield* readFrom(first.nextOffset)
        yield* same("second", [Bash.textOf(second.bytes), second.offset, second.lossy], ["two\n", 4, false])
        yield* same("all", yield* Bash.printed(process.collected.stdout), "one\ntwo\n")
        yield* same("of a stream", (yield* process.collected.stderr.readFrom(0)).nextOffset, 0)
      })
  },
  {
    name: "output that outgrows the limit of its file has none",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const spawn = (size: number) =>
          bash(`head -c ${size} /dev/zero`, { stdout: { maxBytes: 1000, spill: { maxBytes: 100_000 } } })
        for (const size of [100_000, 100_001]) {
          const process = yield* spawn(size)
          yield* process.exit
          const read = yield* process.collected.stdout.readFrom(0)
          yield* same("output", [read.nextOffset, read.bytes.length, read.lossy], [size, 1000, true])
          yield* same(`a file of ${size}`, read.spillPath !== undefined, size === 100_000)
        }
      })
  },
  {
    name: "an endless flood fills nothing and holds nobody up",
    run: (world) =>
      Effect.gen(function* () {
        const { bash, run } = yield* Bash.open(world)
        const process = yield* bash("yes", { stdout: { maxBytes: 10_000, spill: { maxBytes: 1_000_000 } } })
        const { readFrom } = process.collected.stdout
        yield* comeTo(process.collected.stdout, 2_000_000)
        yield* same("others run", (yield* run("echo hello")).stdout, "hello\n")
        yield* process.terminate
        yield* process.exit
        const read = yield* readFrom(0)
        yield* same("kept", [read.bytes.length, read.spillPath], [10_000, undefined])
      })
  },
  {
    name: "a stream gives every byte at the pace of its reader, and takes input meanwhile",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const echo = yield* bash("cat", { stdin: "pipe", stdout: "stream" })
        yield* echo.stdin.write(Bash.bytesOf("one "))
        yield* echo.stdin.write(Bash.bytesOf("two"))
        yield* echo.stdin.end
        const said = Buffer.concat([...(yield* Stream.runCollect(echo.stdout))])
        yield* same("said", Bash.textOf(said), "one two")
        yield* same("exit", (yield* echo.exit).exitCode, 0)
        const numbered = yield* bash("seq 1 20000", { stdout: "stream" })
        const all = Buffer.concat([...(yield* Stream.runCollect(numbered.stdout))])
        yield* holds("nothing is lost", Bash.textOf(all) === numbers)
        yield* same("nothing is collected", (yield* numbered.collected.stdout.readFrom(0)).nextOffset, 0)
        // It waits while nobody reads, and does not mind who reads no further.
        const flood = yield* bash("yes", { stdout: "stream" })
        yield* same("taken", yield* Stream.runCount(Stream.take(flood.stdout, 3)), 3)
      })
  },
  {
    name: "input that nobody takes is refused",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        const write = ({ stdin }: Effect.Effect.Success<ReturnType<typeof bash>>) => stdin.write(Bash.bytesOf("x"))
        yield* refused("without a pipe", Effect.flatMap(bash("cat"), write), "SUBPROCESS_STDIN_CLOSED")
        const ended = yield* bash("cat", { stdin: "pipe" })
        yield* ended.stdin.end
        yield* ended.exit
        yield* refused("after its end", write(ended), "SUBPROCESS_STDIN_CLOSED")
      })
  }
]
