// A run that is recorded once and played back without a model: same answer, same work, same log, as far as it is the same run.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as Workspace from "./support/Workspace.ts"

const script = Script.sequence([
  Reply.toolCalls([{ name: "bash", arguments: { command: "echo here > made", description: "Leave a mark" } }], {
    reasoning: "What now?"
  }),
  Reply.text(["all ", "done"])
])

/** What two runs of one task have in common: everything but ids, times and what follows from them. */
const normalised = (lines: ReadonlyArray<unknown>): string =>
  lines
    .map((line) => JSON.stringify(line))
    .join("\n")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "{id}")
    .replaceAll(/"(time|time0|createdAt)":\d+/g, '"$1":0')
    .replaceAll(/"dt":\[[-\d,]*\]/g, '"dt":[]')

describe("DSH_SNAPSHOT", () => {
  it.scopedLive("records a run, and plays it back without a key and without a request", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(script)
      const file = join(workspace.home, "..", "tape.jsonl")
      const recorded = yield* workspace.run(["run", "work"], {
        env: { DSH_SNAPSHOT: "record", DSH_SNAPSHOT_FILE: file }
      })
      assert.deepStrictEqual([recorded.code, recorded.stdout], [0, "all done\n"], recorded.stderr)
      const made = join(workspace.project, "made")
      assert.isTrue(existsSync(made))
      assert.notInclude(readFileSync(file, "utf8"), Workspace.key)
      const [first = ""] = workspace.sessions()
      const before = normalised(workspace.log(first))

      rmSync(made)
      rmSync(join(workspace.home, "sessions"), { recursive: true })
      const played = yield* workspace.run(["run", "work"], { env: { DEEPSEEK_API_KEY: "", DSH_SNAPSHOT_FILE: file } })
      assert.deepStrictEqual(played, recorded)
      assert.isTrue(existsSync(made))
      assert.strictEqual((yield* workspace.server.requests).length, 2)
      const [second = ""] = workspace.sessions()
      assert.notStrictEqual(second, first)
      assert.strictEqual(normalised(workspace.log(second)), before)
      const verified = yield* workspace.run(["session", "verify", second])
      assert.strictEqual(verified.code, 0, verified.stdout)
    })
  )

  it.scopedLive("is strict: another conversation, an unknown mode, no file", () =>
    Effect.gen(function* () {
      const workspace = yield* Workspace.make(script)
      const file = join(workspace.home, "..", "tape.jsonl")
      const record = { DSH_SNAPSHOT: "record", DSH_SNAPSHOT_FILE: file }
      yield* workspace.run(["run", "work"], { env: record })
      const more = yield* workspace.run(["run", "--continue", "and more"], { env: { DSH_SNAPSHOT_FILE: file } })
      assert.strictEqual(more.code, 1)
      assert.match(more.stderr, /dsh: CASSETTE_MISMATCH: .*recorded with 2 messages here, and there are 6/)

      const unknown = yield* workspace.run(["run", "work"], { env: { DSH_SNAPSHOT: "play", DSH_SNAPSHOT_FILE: file } })
      assert.deepStrictEqual([unknown.code, unknown.stdout], [3, ""])
      assert.include(unknown.stderr, "one of record, replay and refresh")
      const missing = yield* workspace.run(["run", "work"], { env: { DSH_SNAPSHOT_FILE: `${file}.not` } })
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /^dsh: CASSETTE_UNREADABLE: .* record it first \(row "cassette" .*\)\n$/)
    })
  )
})
