import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { SessionId } from "../src/Ids.ts"
import * as SessionHeader from "../src/SessionHeader.ts"

const fields = { id: SessionId("s"), createdAt: 5 }
const made = (more: Partial<SessionHeader.SessionHeader> = {}) => SessionHeader.make({ ...fields, ...more })
const refusal = (more: Partial<SessionHeader.SessionHeader>) => Either.getOrThrow(Either.flip(made(more)))

describe("SessionHeader", () => {
  it("is a frozen copy of the fields with the version of this build", () => {
    const source = { ...fields, cwd: "/home/u", seedLength: 0, delegationDepth: 2, origin: "subagent" as const }
    const header = Either.getOrThrow(SessionHeader.make(source))
    assert.deepStrictEqual(header, { version: SessionHeader.formatVersion, ...source })
    assert.isTrue(Object.isFrozen(header))
    assert.isFalse(Object.isFrozen(source))
    assert.strictEqual(Either.getOrThrow(made({ version: 99 })).version, SessionHeader.formatVersion)
  })

  it("takes absolute paths of every platform", () => {
    for (const cwd of ["/", "/a b", "C:\\x", "c:/x", "\\\\server\\share"])
      assert.isTrue(Either.isRight(made({ cwd })), cwd)
    for (const cwd of ["", "a", "./a", "~", "C:", "C:a"]) {
      assert.strictEqual(refusal({ cwd }).reason, `cwd ${cwd} is not an absolute path`)
    }
  })

  it("refuses what is no id and no whole number, and says which", () => {
    assert.strictEqual(refusal({ id: SessionId("") }).reason, "the id is empty")
    for (const value of [-1, 0.5, -0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.strictEqual(refusal({ createdAt: value }).reason, "createdAt is not a whole number of milliseconds")
      assert.strictEqual(refusal({ seedLength: value }).reason, "seedLength is not a whole number")
      assert.strictEqual(refusal({ delegationDepth: value }).reason, "delegationDepth is not a whole number")
    }
    const error = refusal({ seedLength: -1 })
    assert.strictEqual(error.code, "INVALID_SESSION_HEADER")
    assert.strictEqual(error.message, "the session header is invalid: seedLength is not a whole number")
  })
})
