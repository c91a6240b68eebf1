import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import * as OutputCollector from "../src/SubprocessLocal/OutputCollector.ts"
import { PrivateFolder } from "../src/SubprocessLocal/PrivateFolder.ts"

describe("OutputCollector", () => {
  it("gives the stream as far as beginning and tail reach, and says what is between them", () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 12 })
    const limits = fc.record({ maxBytes: fc.integer({ min: 1, max: 6000 }), headBytes: fc.nat(3000) })
    fc.assert(
      fc.property(chunks, limits, fc.nat(20_000), (pushed, options, offset) => {
        const collector = OutputCollector.make("out", options, new PrivateFolder())
        for (const chunk of pushed) collector.push(chunk)
        const all = Buffer.concat(pushed)
        for (const from of [0, offset]) {
          const { bytes, head, lossy, nextOffset, offset: start } = collector.read(from)
          assert.strictEqual(nextOffset, all.length)
          assert.isTrue(all.subarray(start).equals(bytes))
          const isKept = all.length - Math.min(from, all.length) <= options.maxBytes
          const isWhole = isKept || all.length <= options.maxBytes + options.headBytes
          assert.strictEqual(lossy, !isWhole)
          assert.strictEqual(start, isWhole ? Math.min(from, all.length) : all.length - options.maxBytes)
          if (from > 0 || !lossy) assert.isUndefined(head)
          else assert.isTrue(all.subarray(0, options.headBytes).equals(head ?? Buffer.alloc(0)))
        }
      })
    )
  })
})
