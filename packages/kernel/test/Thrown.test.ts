import { assert, describe, it } from "@effect/vitest"
import { Cause } from "effect"
import * as Thrown from "../src/Thrown.ts"
import { hostile } from "./support.ts"

describe("Thrown", () => {
  it("reads the message of an error, of something like one, and of a primitive", () => {
    assert.strictEqual(Thrown.messageOf(new TypeError("broken")), "broken")
    assert.strictEqual(Thrown.messageOf({ message: "broken" }), "broken")
    assert.strictEqual(Thrown.messageOf("broken"), "broken")
    assert.strictEqual(Thrown.messageOf(7), "7")
    assert.strictEqual(Thrown.messageOf(new Error("x".repeat(5000)))?.length, 4096)
  })

  it("has nothing to say for values that say nothing", () => {
    for (const value of [undefined, null, "", {}, Object.create(null)]) {
      assert.isUndefined(Thrown.messageOf(value))
    }
    assert.strictEqual(Thrown.messageOf(new RangeError()), "RangeError")
  })

  it("survives every hostile value", () => {
    for (const [name, value] of hostile) {
      const message = Thrown.messageOf(value)
      assert.isTrue(message === undefined || typeof message === "string", name)
      assert.isString(Thrown.pretty(Cause.die(value)), name)
    }
  })

  it("shows a cause with its stack", () => {
    assert.include(Thrown.pretty(Cause.die(new Error("broken"))), "Thrown.test.ts")
  })
})
