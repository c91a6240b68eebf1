/**
 * A search as `grep` makes it: one run of ripgrep over all files as UTF-8 (and UTF-16 with a mark, which ripgrep sees by itself), and
 * one more for each older encoding over the files that are in it, so that what is found there reads as `read` shows it.
 *
 * Which files those are shows when a line of theirs is found that is not UTF-8. A pattern of characters beyond ASCII would not find any,
 * so for such a pattern they are looked for first.
 */
import type { ToolError } from "@dsh/tools/ToolError"
import type { Fs } from "@dsh/world/Fs"
import type { Subprocess } from "@dsh/world/Subprocess"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { isAscii } from "node:buffer"
import type { GlobPattern } from "../GlobPattern.ts"
import * as Ripgrep from "../Ripgrep.ts"
import type { SearchPlace } from "../SearchPlace.ts"
import { Counts } from "./Counts.ts"
import * as Encodings from "./Encodings.ts"
import * as Found from "./Found.ts"
import * as MatchRecord from "./MatchRecord.ts"

export interface Wanted {
  readonly pattern: string
  readonly output: "matches" | "files" | "count"
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly context: number
  readonly place: SearchPlace
  readonly include: GlobPattern | undefined
}

export interface Limits extends Ripgrep.Options {
  readonly maxLineBytes: number
  readonly timeoutMs: number
}

export interface Result extends Ripgrep.Ended {
  readonly matches: ReadonlyArray<Found.Line>
  readonly files: ReadonlyArray<Found.FileCount>
}

export const search = (wanted: Wanted, limits: Limits): Effect.Effect<Result, ToolError, Subprocess | Fs> =>
  Effect.gen(function* () {
    const { place } = wanted
    const start = yield* Clock.currentTimeMillis
    const left = Effect.map(Clock.currentTimeMillis, (now) => start + limits.timeoutMs - now)
    const asUtf8 = yield* pass(wanted, limits, [place.target], limits.timeoutMs)

    const suspects = new Set(asUtf8.undecoded)
    let isPartial = asUtf8.isPartial
    if (!isPartial && !isAscii(Buffer.from(wanted.pattern))) {
      const looked = yield* notUtf8(wanted, limits, yield* left)
      for (const name of looked.names) suspects.add(name)
      isPartial = looked.isPartial
    }
    if (suspects.size === 0) return result([asUtf8], { ...asUtf8, isPartial })

    const { groups, unread } = yield* Encodings.groupsOf(place.root, [...suspects])
    const passes: Array<Pass> = []
    for (const { encoding, names } of groups) {
      const timeLeft = yield* left
      if (timeLeft <= 0) isPartial = true
      else passes.push(yield* pass(wanted, limits, names, timeLeft, encoding))
    }
    const redone = new Set(groups.flatMap(({ names }) => names.map((name) => place.show(plain(name)))))
    const others = <A extends { readonly path: string }>(found: ReadonlyArray<A>) =>
      found.filter(({ path }) => !redone.has(path))
    return result([{ ...asUtf8, lines: others(asUtf8.lines), files: others(asUtf8.files) }, ...passes], {
      isPartial: isPartial || passes.some((it) => it.isPartial),
      unreadable: asUtf8.unreadable + unread
    })
  })

const result = (passes: ReadonlyArray<Pass>, { isPartial, unreadable }: Ripgrep.Ended): Result => ({
  matches: Found.inOrder(passes.flatMap(({ lines }) => lines)),
  files: Found.inOrder(passes.flatMap(({ files }) => files)),
  isPartial,
  unreadable
})

// -----------------------------------------------------------------------------
// runs of ripgrep
// -----------------------------------------------------------------------------

interface Pass extends Ripgrep.Ended {
  readonly lines: ReadonlyArray<Found.Line>
  readonly files: ReadonlyArray<Found.FileCount>
  /** Files, as ripgrep names them, with a line that is not UTF-8. */
  readonly undecoded: ReadonlySet<string>
}

const pass = (
  { context, ignoreCase, include, multiline, output, pattern, place }: Wanted,
  { maxLineBytes, program, rawOutputMaxBytes = Ripgrep.defaultMaxBytes }: Limits,
  targets: ReadonlyArray<string>,
  deadlineMs: number,
  encoding?: string
): Effect.Effect<Pass, ToolError, Subprocess> =>
  Effect.suspend(() => {
    const lines: Array<Found.Line> = []
    const files: Array<Found.FileCount> = []
    const undecoded = new Set<string>()
    /** The name of a file that is wanted. */
    const named = (found: string): string | undefined => {
      const path = plain(found)
      return include === undefined || include.matches(path) ? place.show(path) : undefined
    }
    const counts = new Counts((found, count) => {
      const path = named(found)
      if (path !== undefined) files.push({ path, count })
    })
    const take = (record: Ripgrep.Record) => {
      if (output === "count") return counts.push(record.bytes)
      if (output === "files") {
        const path = named(record.bytes.toString("utf8"))
        if (path !== undefined) files.push({ path })
        return
      }
      const line = MatchRecord.parse(record, maxLineBytes)
      const path = line && named(line.path)
      if (line === undefined || path === undefined) return
      lines.push(Found.lineOf(line, path))
      if (!line.isUtf8) undecoded.add(line.path)
    }
    return Effect.map(
      Ripgrep.run({
        args: [
          ...outputArgs(output, context),
          ...(ignoreCase ? ["--ignore-case"] : []),
          ...(multiline ? ["--multiline", "--multiline-dotall"] : []),
          ...(encoding === undefined ? [] : [`--encoding=${encoding}`]),
          ...(include?.args ?? []),
          "-e",
          pattern,
          "--",
          ...targets
        ],
        cwd: place.root,
        separator: output === "matches" ? Ripgrep.newline : Ripgrep.nul,
        take,
        deadlineMs,
        maxBytes: rawOutputMaxBytes,
        program
      }),
      (ended): Pass => ({ lines, files, undecoded, ...ended })
    )
  })

const outputArgs = (output: Wanted["output"], context: number): ReadonlyArray<string> => {
  switch (output) {
    case "files":
      return ["--files-with-matches", "--null"]
    case "count":
      return ["--count", "--with-filename", "--null"]
    case "matches":
      return ["--json", `--context=${context}`]
  }
}

/** The text files with a line that is not UTF-8: one that does not consist of characters. */
const notUtf8 = (
  { include, place }: Wanted,
  { program, rawOutputMaxBytes = Ripgrep.defaultMaxBytes }: Limits,
  deadlineMs: number
) =>
  Effect.suspend(() => {
    const names: Array<string> = []
    return Effect.map(
      Ripgrep.run({
        args: [
          "--files-with-matches",
          "--null",
          "--invert-match",
          "--line-regexp",
          ...(include?.args ?? []),
          "-e",
          ".*",
          "--",
          place.target
        ],
        cwd: place.root,
        separator: Ripgrep.nul,
        take: ({ bytes }) => {
          const name = bytes.toString("utf8")
          if (include === undefined || include.matches(plain(name))) names.push(name)
        },
        deadlineMs: Math.max(1, deadlineMs),
        maxBytes: rawOutputMaxBytes,
        program
      }),
      ({ isPartial }) => ({ names, isPartial })
    )
  })

const plain = (found: string): string => found.replace(/^\.\//, "")
