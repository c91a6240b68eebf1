// A composition that runs while its files are changed: edited, broken, repaired, taken away.
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Queue, Stream, TestClock } from "effect"
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Compose from "../src/Compose.ts"
import * as PatchFile from "../src/PatchFile.ts"
import * as Reloading from "../src/Reloading.ts"
import * as Rows from "../src/Row.ts"
import { journal, means } from "./support.ts"

const rows: ReadonlyArray<Rows.Row> = [
  { id: "clock", name: "clock" },
  { id: "lamp", name: "lamp" },
  { id: "house", name: "house" },
  { id: "toaster", name: "toaster", config: { minutes: 1 } },
  { id: "attic", isolate: true, group: [{ id: "other", name: "clock", config: { zone: "EST" } }] }
]

const root = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "dsh-reload-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const compose = (files: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const patches = yield* Effect.forEach(files, PatchFile.readIfPresent)
    const layers = [Rows.rows("test", rows), ...patches.filter((patch) => patch !== undefined)]
    return yield* Compose.compose({ layers, means })
  })

/** One that runs and watches; `next` waits for what is reported next. */
const running = (files: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const composition = yield* Effect.flatMap(compose(files), Compose.start)
    const reports = yield* Queue.unbounded<Reloading.Report>()
    yield* Reloading.watch({
      files,
      recompose: Effect.map(compose(files), ({ graph }) => graph),
      composition,
      report: (report) => Queue.unsafeOffer(reports, report)
    })
    journal.length = 0
    return { composition, reports, next: Effect.map(Queue.take(reports), Reloading.show) }
  })

const zone = (name: string) => `- id: clock\n  config: { zone: ${name} }\n`
const changed = "the composition has changed: restarted clock, lamp, house"
const taken = () => journal.splice(0)

describe("live reload", () => {
  it.scopedLive("restarts the rows that were changed and those that need them, and leaves the others alone", () =>
    Effect.gen(function* () {
      const file = join(yield* root, "dsh.patch.yml")
      writeFileSync(file, "[]\n")
      const { next } = yield* running([file])
      writeFileSync(file, zone("CET"))
      assert.strictEqual(yield* next, changed)
      assert.deepStrictEqual(taken(), ["-house", "-lamp", "-clock UTC", "+clock CET", "+lamp", "+house"])

      // As editors write: another file is put in its place.
      writeFileSync(`${file}~`, zone("MST"))
      renameSync(`${file}~`, file)
      assert.strictEqual(yield* next, changed)

      writeFileSync(
        file,
        `${zone("MST")}- id: house\n  disabled: true\n- insert:\n    - { id: toast, name: toaster, config: { minutes: 2 } }\n`
      )
      assert.strictEqual(yield* next, "the composition has changed: added toast; removed house")

      rmSync(file)
      assert.strictEqual(yield* next, "the composition has changed: restarted clock, lamp; added house; removed toast")
      assert.deepStrictEqual(taken().slice(-3), ["+clock UTC", "+lamp", "+house"])
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scopedLive("keeps what ran while a file is broken, says where, and goes on when it is repaired", () =>
    Effect.gen(function* () {
      const file = join(yield* root, "dsh.patch.yml")
      writeFileSync(file, zone("CET"))
      const { composition, next } = yield* running([file])
      const before = composition.rows()
      const broken: ReadonlyArray<readonly [text: string, why: RegExp]> = [
        [`${zone("MST")}- id: [\n`, /^the composition stays as it was: .*dsh\.patch\.yml:\d+: the file is no YAML/],
        ["", /dsh\.patch\.yml: the file is empty; write \[\]/],
        ["- id: clock\n  config:\n    zoon: MST\n", /dsh\.patch\.yml:1: row "clock" sets "zoon"/],
        ["- id: clock\n  disabled: true\n", /row "lamp" needs test\/Clock, which nobody provides; row "clock"/]
      ]
      for (const [text, why] of broken) {
        writeFileSync(file, text)
        assert.match(yield* next, why)
        assert.deepStrictEqual(composition.rows(), before)
      }
      assert.deepStrictEqual(taken(), [])
      // What can be composed and not be started is taken back.
      writeFileSync(file, `${zone("MST")}- id: toaster\n  config: { minutes: 9 }\n`)
      assert.match(yield* next, /stays as it was: the toast is black; take 3 minutes \(row "toaster" of/)
      assert.deepStrictEqual(taken().slice(-3), ["+clock CET", "+lamp", "+house"])

      writeFileSync(file, zone("MST"))
      assert.strictEqual(yield* next, changed)
      assert.deepStrictEqual(taken().slice(-3), ["+clock MST", "+lamp", "+house"])
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scopedLive("sees files that are not there yet, nor their folders, and where links lead", () =>
    Effect.gen(function* () {
      const folder = yield* root
      const target = join(folder, "dotfiles", "mine.yml")
      mkdirSync(dirname(target))
      writeFileSync(target, zone("CET"))
      const linked = join(folder, "dsh.patch.yml")
      symlinkSync(target, linked)
      const late = join(folder, "profiles", "mine", "dsh.patch.yml")
      const { next } = yield* running([late, linked])

      writeFileSync(target, zone("MST"))
      assert.strictEqual(yield* next, changed)
      for (const name of ["EET", "WET"]) {
        mkdirSync(dirname(late), { recursive: true })
        writeFileSync(late, `- id: other\n  config: { zone: ${name} }\n`)
        assert.strictEqual(yield* next, "the composition has changed: restarted other")
        // Away and back again: the folder is another one then.
        rmSync(join(folder, "profiles"), { recursive: true })
        assert.strictEqual(yield* next, "the composition has changed: restarted other")
      }
      assert.deepStrictEqual(taken().slice(-4), ["-clock EST", "+clock WET", "-clock WET", "+clock EST"])
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scopedLive("counts what was changed between composing and watching", () =>
    Effect.gen(function* () {
      const file = join(yield* root, "dsh.patch.yml")
      const composition = yield* Effect.flatMap(compose([file]), Compose.start)
      const reports = yield* Queue.unbounded<Reloading.Report>()
      writeFileSync(file, zone("CET"))
      const recompose = Effect.map(compose([file]), ({ graph }) => graph)
      const report = (what: Reloading.Report) => void Queue.unsafeOffer(reports, what)
      yield* Reloading.watch({ files: [file], recompose, composition, report })
      assert.strictEqual(Reloading.show(yield* Queue.take(reports)), changed)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scoped("makes one change of edits that follow each other, and none of what changed nothing", () =>
    Effect.gen(function* () {
      const file = "/home/u/.dsh/dsh.patch.yml"
      const events = yield* Queue.unbounded<FileSystem.WatchEvent>()
      let text = "[]\n"
      const fs = FileSystem.layerNoop({
        exists: () => Effect.succeed(true),
        realPath: (path) => Effect.succeed(path),
        readFileString: () => Effect.sync(() => text),
        stat: () => Effect.succeed({ type: "Directory", ino: Option.none() } as FileSystem.File.Info),
        watch: () => Stream.fromQueue(events)
      })
      yield* Effect.gen(function* () {
        const { next, reports } = yield* running([file])
        const edit = (content: string) =>
          Effect.gen(function* () {
            text = content
            yield* Queue.offer(events, FileSystem.WatchEventUpdate({ path: "dsh.patch.yml" }))
          })
        // Without an event: it is looked at once when the watch begins.
        text = zone("EET")
        yield* TestClock.adjust("100 millis")
        assert.strictEqual(yield* next, changed)
        taken()
        yield* edit(zone("CET"))
        yield* TestClock.adjust("60 millis")
        yield* edit(zone("MST"))
        yield* TestClock.adjust("60 millis")
        assert.deepStrictEqual(taken(), [], "a file that is still written to was read")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* next, changed)
        assert.deepStrictEqual(taken(), ["-house", "-lamp", "-clock EET", "+clock MST", "+lamp", "+house"])

        yield* edit(zone("MST"))
        yield* edit(`# the same\n${zone("MST")}`)
        yield* Queue.offer(events, FileSystem.WatchEventUpdate({ path: "settings.yaml" }))
        yield* TestClock.adjust("1 second")
        yield* edit(zone("WET"))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* next, changed)
        assert.lengthOf(yield* Queue.takeAll(reports), 0)
        assert.deepStrictEqual(taken(), ["-house", "-lamp", "-clock MST", "+clock WET", "+lamp", "+house"])
      }).pipe(Effect.provide(fs))
    })
  )
})
