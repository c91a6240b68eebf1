/**
 * The programs of a world in memory. `bash` knows a few commands, with `&&` between them and `>` at their end; `rg` knows what the search
 * tools ask for.
 */
import type { Fs } from "@dsh/world/Fs"
import type * as FsMemory from "@dsh/world/FsMemory"
import { Effect } from "effect"
import { join } from "node:path"

/** What it prints. */
type Program = (args: ReadonlyArray<string>, cwd: string) => Effect.Effect<string>

export const make = (fs: Fs["Type"], files: FsMemory.MemoryFiles): Readonly<Record<string, Program>> => {
  const text = (path: string, cwd: string) =>
    fs.resolve(path, { cwd }).pipe(
      Effect.flatMap(fs.readBytes),
      Effect.map(({ bytes }) => Buffer.from(bytes).toString())
    )

  /** Paths of files as `rg` prints them, of one file or of all in a folder. */
  const below = (path: string, cwd: string): Effect.Effect<ReadonlyArray<string>> =>
    Effect.gen(function* () {
      const target = yield* fs.resolve(path, { cwd })
      if ((yield* fs.stat(target))?.type === "file") return [path]
      const entries = (yield* fs.listDir(target)).filter(({ type }) => type !== "symlink")
      return (yield* Effect.forEach(entries, ({ name }) => below(`${path.replace(/\/$/, "")}/${name}`, cwd))).flat()
    }).pipe(Effect.orDie)

  const command: Program = ([name = "", ...args], cwd) => {
    switch (name) {
      case "echo":
        return Effect.succeed(`${args.join(" ")}\n`)
      case "seq":
        return Effect.succeed(Array.from({ length: Number(args[1]) }, (_, i) => `${i + 1}\n`).join(""))
      case "cat":
        return Effect.map(Effect.orDie(Effect.forEach(args, (path) => text(path, cwd))), (texts) => texts.join(""))
      case "ln":
        return Effect.as(
          Effect.sync(() => files.makeLink(args[1]!, join(cwd, args[2]!))),
          ""
        )
      default:
        return Effect.dieMessage(`${name} is not known here`)
    }
  }

  const run = (line: string, cwd: string): Effect.Effect<string> => {
    const [words = "", file] = line.split(" > ")
    const output = command(words.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", "")) ?? [], cwd)
    if (file === undefined) return output
    const write = (content: string) =>
      Effect.flatMap(fs.resolve(file, { cwd }), (target) => fs.write(target, Buffer.from(content)))
    return Effect.as(Effect.orDie(Effect.flatMap(output, write)), "")
  }

  const found = (path: string, content: string, pattern: RegExp) =>
    content
      .replace(/\n$/, "")
      .split("\n")
      .flatMap((line, i) => {
        const match = pattern.exec(line)
        if (match === null) return []
        const submatches = [{ match: { text: match[0] }, start: match.index, end: match.index + match[0].length }]
        const data = {
          path: { text: path },
          lines: { text: `${line}\n` },
          line_number: i + 1,
          absolute_offset: 0,
          submatches
        }
        return [`${JSON.stringify({ type: "match", data })}\n`]
      })

  return {
    bash: (args, cwd) =>
      Effect.map(
        Effect.forEach((args.at(-1) ?? "").split(" && "), (line) => run(line, cwd)),
        (texts) => texts.join("")
      ),
    rg: (args, cwd) =>
      Effect.gen(function* () {
        const paths = yield* below(args.at(-1)!, cwd)
        if (args.includes("--files")) return paths.map((path) => `${path}\0`).join("")
        const pattern = new RegExp(args[args.indexOf("-e") + 1]!)
        const lines = yield* Effect.forEach(paths, (path) =>
          Effect.map(Effect.orDie(text(path, cwd)), (content) => found(path, content, pattern))
        )
        return lines.flat().join("")
      })
  }
}
