/**
 * What `dsh run --json` printed, held against its published schema.
 */
import * as JsonSchemaForm from "@dsh/structured-output/JsonSchemaForm"
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as RunEvents from "../../src/RunEvents.ts"
import type { Line } from "../../src/RunEvents.ts"

const schemaFile = fileURLToPath(new URL("../../../../docs/run-events.schema.json", import.meta.url))

type Result = Extract<Line, { readonly type: "result" }>

const form = Effect.runSync(Effect.suspend(() => JsonSchemaForm.make(JSON.parse(readFileSync(schemaFile, "utf8")))))

/** Stricter than what is published: nothing is printed that is not described. */
const decode = Schema.decodeUnknownSync(RunEvents.Line, { onExcessProperty: "error" })

/** Every line fits, the first is the start (unless it never came to one), the last one and no other is the result. */
export const read = (stdout: string): { readonly lines: ReadonlyArray<Line>; readonly result: Result } => {
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((text) => {
      const verdict = form.judge(text)
      assert.isTrue(verdict.fits, verdict.fits ? "" : `${verdict.message}: ${text}`)
      return decode(JSON.parse(text))
    })
  const result = lines.at(-1)
  if (result?.type !== "result") return assert.fail(`the last line is no result: ${stdout}`)
  assert.strictEqual(lines.filter(({ type }) => type === "result").length, 1)
  const [first] = lines
  if (result.sessionId !== null) {
    assert.isTrue(first?.type === "start" && first.sessionId === result.sessionId, stdout)
  }
  return { lines, result }
}
