import { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as SessionHeader from "@dsh/protocol/SessionHeader"
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as Transcript from "../src/Transcript.ts"

describe("Transcript", () => {
  it("says which model went on in the place of another, and why", () => {
    const route = (model: string) => ({ provider: "p", model })
    const event: SessionEvent = {
      type: "llm/fallback",
      seq: 0,
      time: 0,
      data: {
        turn: 1,
        step: 1,
        from: route("large"),
        to: route("small"),
        chosen: route("large"),
        failure: { code: "QUOTA", message: "no more credit" }
      },
      ignorable: true
    }
    const header = Either.getOrThrow(SessionHeader.make({ id: SessionId("s"), createdAt: 0 }))
    const text = Transcript.render(header, [event], { prices: new Map(), subAgents: [] })
    assert.include(text, "  (large failed (QUOTA: no more credit); small goes on until the turn ends)")
  })
})
