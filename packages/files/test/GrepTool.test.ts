import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import * as NodeFs from "node:fs"
import * as Ripgrep from "../src/Ripgrep.ts"
import { codeOf, textOf } from "./support.ts"
import { program, tools, toolsWith, workspace } from "./search.ts"

describe("GrepTool", () => {
  it.scopedLive("shows the lines of each file, in order, and what is around them", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({
        "b.txt": "one\ntwo foo\nthree\nfour\nfive\nsix\nseven FOO\n",
        "a/x.ts": "foo()\r\nbar\r\n",
        ".hidden": "foo"
      })
      assert.strictEqual(
        textOf(yield* grep("foo")),
        "Found 3 matches\n\n.hidden\nLine 1: foo\n\na/x.ts\nLine 1: foo()\n\nb.txt\nLine 2: two foo"
      )
      assert.strictEqual(
        textOf(yield* grep("foo", { path: "b.txt", ignore_case: true, context: 1 })),
        "Found 2 matches\n\nb.txt\nLine 1- one\nLine 2: two foo\nLine 3- three\n--\nLine 6- six\nLine 7: seven FOO"
      )
      assert.strictEqual(textOf(yield* grep("foo", { include: "*.{ts,js}" })), "Found 1 match\n\na/x.ts\nLine 1: foo()")
      assert.strictEqual(textOf(yield* grep("foo", { include: "a/**" })), "Found 1 match\n\na/x.ts\nLine 1: foo()")
      assert.strictEqual(textOf(yield* grep("nowhere")), "No matches found")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("lists files, counts lines, and finds what goes over the end of one", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({ a: "foo\nfoo\n", "b\nb": "foo\n", c: "bar" })
      assert.strictEqual(textOf(yield* grep("foo", { output: "files" })), "Found 2 files\n\na\nb\nb")
      assert.strictEqual(textOf(yield* grep("foo", { output: "count" })), "Found 3 matches in 2 files\n\na: 2\nb\nb: 1")
      assert.strictEqual(
        textOf(yield* grep("foo.foo", { multiline: true })),
        "Found 1 match\n\na\nLine 1: foo\nLine 2: foo"
      )
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("sees the same files as glob", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({
        ".gitignore": "*.log\n",
        "a.log": "foo",
        ".git/x": "foo",
        ".env": "foo",
        bin: "foo\0foo"
      })
      assert.strictEqual(textOf(yield* grep("foo", { output: "files" })), "Found 1 file\n\n.env")
      assert.strictEqual(textOf(yield* grep("foo", { include: "*.log" })), "No matches found")
      // Who names a file wants that file.
      assert.include(textOf(yield* grep("foo", { path: "a.log" })), "Line 1: foo")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("passes patterns on as they are", () =>
    Effect.gen(function* () {
      const { at, grep } = yield* workspace({ a: "--files\n$(touch x)\n'; touch x #\n" })
      for (const pattern of ["--files", "\\$\\(touch x\\)", "'; touch x #"]) {
        assert.include(textOf(yield* grep(pattern)), "Found 1 match")
      }
      assert.strictEqual(textOf(yield* grep("-f/etc/passwd")), "No matches found")
      assert.isFalse(NodeFs.existsSync(at("x")))
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("tells a pattern that is none from a place that is not there", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({ a: "" })
      const pattern = yield* grep("foo(")
      assert.strictEqual(codeOf(pattern), "SEARCH_INVALID_PATTERN")
      assert.include(textOf(pattern), "unclosed group")
      assert.strictEqual(codeOf(yield* grep("a\\nb")), "SEARCH_INVALID_PATTERN")
      assert.strictEqual(codeOf(yield* grep("a", { include: "!b" })), "SEARCH_INVALID_PATTERN")
      assert.strictEqual(codeOf(yield* grep("a", { include: "*.a,*.b" })), "SEARCH_INVALID_PATTERN")
      assert.strictEqual(codeOf(yield* grep("a", { path: "nowhere" })), "SEARCH_FAILED")
      assert.strictEqual(codeOf(yield* grep("a", { context: 11 })), "INVALID_ARGS")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("shows what is not UTF-8, and of long lines the part with the match", () =>
    Effect.gen(function* () {
      const { dir, grep } = yield* workspace({
        bytes: Buffer.from([0x66, 0x6f, 0x6f, 0x20, 0xff, 0x0a]),
        long: `${"ü".repeat(5000)}foo${"x".repeat(5000)}\n`,
        huge: `foo${'\\"y'.repeat(1_000_000)}\nfoo\n`
      })
      NodeFs.writeFileSync(Buffer.concat([Buffer.from(`${dir}/n`), Buffer.of(0xff)]), "foo\n")
      assert.include(textOf(yield* grep("foo", { path: "bytes" })), "Line 1: foo \uFFFD")
      assert.include(textOf(yield* grep("foo", { include: "n*" })), "n\uFFFD\nLine 1: foo")
      const long = textOf(yield* grep("foo", { path: "long" }))
      assert.match(long, /Line 1: …ü+foox+… \(line cut, 15003 bytes in all\)$/)
      assert.isBelow(Buffer.byteLength(long), 2100)
      const huge = textOf(yield* grep("foo", { path: "huge" }))
      assert.match(huge, /^Found 2 matches\n\nhuge\nLine 1: foo(\\"y)+\\?"?… \(line cut, very long\)\nLine 2: foo$/)
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("finds in files of other encodings what read shows of them", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({
        "gbk.txt": Buffer.concat([
          Buffer.from("x = 1 // "),
          Buffer.from([0xd6, 0xd0, 0xce, 0xc4]),
          Buffer.from("\r\ny\n")
        ]),
        "sjis.txt": Buffer.from([0x78, 0x20, 0x95, 0x5c, 0x8e, 0xa6, 0x0a]),
        "latin.txt": Buffer.from("x caf\xe9\n", "latin1"),
        "utf8.txt": "x 中文 café 表示\n",
        "utf16.txt": Buffer.from("\uFEFFx 中文\n", "utf16le"),
        "unknown.txt": Buffer.from([0x78, 0x20, 0xff, 0x0a]),
        bin: Buffer.from([0x78, 0, 0xd6, 0xd0, 0xce, 0xc4])
      })
      assert.strictEqual(
        textOf(yield* grep("x")),
        "Found 6 matches\n\ngbk.txt\nLine 1: x = 1 // 中文\n\nlatin.txt\nLine 1: x café\n\nsjis.txt\nLine 1: x 表示\n\n" +
          "unknown.txt\nLine 1: x \uFFFD\n\nutf16.txt\nLine 1: x 中文\n\nutf8.txt\nLine 1: x 中文 café 表示"
      )
      const files = (pattern: string, args: object = {}) =>
        Effect.map(grep(pattern, { output: "files", ...args }), (outcome) => textOf(outcome).split("\n").slice(2))
      assert.deepStrictEqual(yield* files("中文"), ["gbk.txt", "utf16.txt", "utf8.txt"])
      assert.deepStrictEqual(yield* files("中文", { include: "g*" }), ["gbk.txt"])
      assert.deepStrictEqual(yield* files("CAFÉ", { ignore_case: true }), ["latin.txt", "utf8.txt"])
      assert.deepStrictEqual(yield* files("表示$"), ["sjis.txt", "utf8.txt"])
      assert.strictEqual(
        textOf(yield* grep("中", { output: "count" })),
        "Found 3 matches in 3 files\n\ngbk.txt: 1\nutf16.txt: 1\nutf8.txt: 1"
      )
      assert.strictEqual(
        textOf(yield* grep("文", { path: "gbk.txt" })),
        "Found 1 match\n\ngbk.txt\nLine 1: x = 1 // 中文"
      )
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("shows so many matches, and refuses what would be too much to hold", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({ a: "foo\n".repeat(300) })
      const text = textOf(yield* grep("foo"))
      assert.include(text, "Found 300 matches\n\na\nLine 1: foo\n")
      assert.match(text, /Line 250: foo\n\n\(shown 250 of 300 matches; the whole list could not be saved; or narrow/)
      const over = yield* Effect.provide(grep("foo"), toolsWith({ rawOutputMaxBytes: 10_000 }))
      assert.strictEqual(codeOf(over), "SEARCH_RAW_OUTPUT_OVERFLOW")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("gives what it found by the deadline, and says so", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({})
      const line = `{"type":"match","data":{"path":{"text":"./a"},"lines":{"text":"foo\\\\n"},"line_number":7,"submatches":[{"start":0}]}}`
      const slow = yield* program(`printf '${line}\\n{"type":"match","da'; exec tail -f /dev/null`)
      const found = yield* Effect.provide(grep("foo"), toolsWith({ program: slow, timeoutMs: 1000 }))
      assert.match(textOf(found), /^Found 1 match\n\na\nLine 7: foo\n\n\(the search took too long and was stopped/)
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("says what could not be read, and why nothing could", () =>
    Effect.gen(function* () {
      const { grep } = yield* workspace({})
      const ending = (body: string) =>
        Effect.flatMap(program(body), (made) => Effect.provide(grep("foo"), toolsWith({ program: made })))
      const some = yield* ending("echo 'rg: ./p: Permission denied (os error 13)' >&2; exit 2")
      assert.strictEqual(textOf(some), "No matches found\n\n(1 file or folder could not be read)")
      const failed = yield* ending("echo 'rg: out of luck' >&2; exit 2")
      assert.deepStrictEqual(
        [codeOf(failed), textOf(failed)],
        ["SEARCH_FAILED", "Error: the search failed: out of luck"]
      )
      // Exit 1 is "nothing found" only of ripgrep itself.
      assert.strictEqual(codeOf(yield* ending("echo 'bwrap: no' >&2; exit 1")), "SEARCH_FAILED")
      assert.strictEqual(codeOf(yield* ending("kill -9 $$")), "SEARCH_ABORTED")
      const missing = yield* Effect.provide(grep("foo"), toolsWith({ program: "no-such-ripgrep" }))
      assert.strictEqual(codeOf(missing), "SEARCH_UNAVAILABLE")
      assert.include(textOf(missing), "install it")
    }).pipe(Effect.provide(tools))
  )

  it.scopedLive("falls back to the ripgrep in PATH where the packaged one is not there", () =>
    Effect.gen(function* () {
      const here = yield* Effect.either(Ripgrep.locate(undefined, Effect.fail("no binary for this platform")))
      // A machine has one or not; what is asked for is `rg` either way.
      const said = here._tag === "Left" ? here.left.message : here.right
      assert.match(said, /"rg" is in PATH|\/rg$/)
      assert.match(yield* Ripgrep.locate(undefined), /ripgrep-[^/]+\/bin\/rg(\.exe)?$/)
    }).pipe(Effect.provide(SubprocessLocal.layer()))
  )

  it.scopedLive("takes its process along when it is cancelled", () =>
    Effect.gen(function* () {
      const { at, grep } = yield* workspace({})
      const slow = yield* program(`echo $$ > ${at("pid")}; exec tail -f /dev/null`)
      const fiber = yield* Effect.fork(Effect.provide(grep("foo"), toolsWith({ program: slow })))
      const pid = yield* Effect.sync(() => Number(NodeFs.readFileSync(at("pid"), "utf8") || Number.NaN)).pipe(
        Effect.filterOrFail(Number.isFinite),
        Effect.sandbox,
        Effect.retry(Schedule.spaced("10 millis"))
      )
      yield* Fiber.interrupt(fiber)
      yield* Effect.try(() => process.kill(pid, 0)).pipe(Effect.flip, Effect.retry(Schedule.spaced("10 millis")))
    }).pipe(Effect.provide(tools))
  )
})
