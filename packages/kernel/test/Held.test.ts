import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import * as Held from "../src/Held.ts"

describe("Held", () => {
  it.effect("is there for as long as the scope is open, and leaves in reverse order", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const hold = (name: string) =>
        Held.hold(
          () => log.push(`+${name}`),
          () => log.push(`-${name}`)
        )
      yield* Effect.scoped(Effect.zipRight(hold("a"), hold("b")))
      assert.deepStrictEqual(log, ["+a", "+b", "-b", "-a"])
    })
  )

  it.effect("leaves nothing behind when it is refused", () =>
    Effect.gen(function* () {
      let left = 0
      const refused = Held.claim(
        () => "taken",
        () => void left++
      )
      assert.strictEqual(yield* Effect.flip(Effect.scoped(refused)), "taken")
      assert.strictEqual(left, 0)
    })
  )

  it.effect("leaves a scope that was closed already", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Scope.close(scope, Exit.void)
      const there = new Set<string>()
      const held = Held.hold(
        () => void there.add("it"),
        () => void there.delete("it")
      )
      yield* Scope.extend(held, scope)
      assert.strictEqual(there.size, 0)
    })
  )
})
