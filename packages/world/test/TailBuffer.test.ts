import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { TailBuffer } from "../src/SubprocessLocal/TailBuffer.ts"

describe("TailBuffer", () => {
  it("holds the last bytes of everything pushed, whatever the sizes", () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 9000 }), { maxLength: 12 })
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 12_000 }), fc.nat(40_000), (pushed, limit, offset) => {
        const tail = new TailBuffer(limit)
        for (const chunk of pushed) tail.push(chunk)
        const all = Buffer.concat(pushed)
        const start = Math.min(all.length, Math.max(offset, all.length - limit))
        const read = tail.from(offset)
        assert.strictEqual(tail.total, all.length)
        assert.strictEqual(read.offset, start)
        assert.isTrue(all.subarray(start).equals(read.bytes))
      })
    )
  })
})
