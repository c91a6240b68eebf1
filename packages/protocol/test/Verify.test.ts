import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { createHash } from "node:crypto"
import * as Conversation from "../src/Conversation.ts"
import { MessageId } from "../src/Ids.ts"
import { user } from "../src/Message.ts"
import { neutral } from "../src/NeutralRequest.ts"
import type { RequestFormat } from "../src/Request.ts"
import * as RequestBody from "../src/RequestBody.ts"
import type { SessionEvent } from "../src/SessionEvent.ts"
import { verify } from "../src/Verify.ts"
import { makeLog } from "./support.ts"

const newHash = () => createHash("sha256")
const formatOf = (name: string): RequestFormat | undefined => (name === "neutral" ? neutral : undefined)
const check = (events: Iterable<SessionEvent>) => [...verify(events, formatOf, newHash)]

/** A log of three requests: the second after an answer, the third after a new header and a replacement. */
const makeRequests = () => {
  const log = makeLog()
  const conversation = Conversation.empty()
  const body = RequestBody.make(() => neutral, newHash)
  let applied = 0
  const sent = (step: number, attempt = 1) => {
    for (; applied < log.events.length; applied++) conversation.apply(log.events[applied]!)
    const { bytes, of, sha256 } = body.render(conversation.header!, conversation)
    log.add("request/sent", { turn: 1, step, attempt, bytes: bytes.length, sha256, of })
  }
  log.say("hello")
  log.head({ system: "be brief" })
  sent(1)
  log.answer("hi")
  log.say("more")
  sent(2)
  log.head({ system: "be kind" })
  log.replace(0, 3, "summary")
  sent(3)
  sent(3, 2)
  return log.events
}

const requests = [2, 5, 8, 9]

/** The log with one event exchanged. */
const tampered = (seq: number, change: (event: SessionEvent) => object) =>
  makeRequests().map((event) => (event.seq === seq ? ({ ...event, ...change(event) } as SessionEvent) : event))

const broken = (events: ReadonlyArray<SessionEvent>) =>
  check(events).flatMap(({ problem, seq }) => (problem === undefined ? [] : [seq]))

describe("Verify", () => {
  it("holds for every request of a log, replacements and headers included", () => {
    const lines = check(makeRequests())
    assert.deepStrictEqual(
      lines.map(({ attempt, problem, seq, step }) => ({ seq, step, attempt, problem })),
      [
        { seq: 2, step: 1, attempt: 1, problem: undefined },
        { seq: 5, step: 2, attempt: 1, problem: undefined },
        { seq: 8, step: 3, attempt: 1, problem: undefined },
        { seq: 9, step: 3, attempt: 2, problem: undefined }
      ]
    )
    assert.isAbove(lines[1]!.bytes, lines[0]!.bytes)
  })

  it("finds a changed message in the first request that held it, and names that request", () => {
    const events = tampered(3, ({ data }) => ({ data: JSON.parse(JSON.stringify(data).replace('"hi"', '"ho"')) }))
    const [, second] = check(events)
    assert.deepInclude(second, { seq: 5, turn: 1, step: 2, attempt: 1 })
    assert.match(second!.problem!, /^the log rebuilds \d+ other bytes \(\d+ were sent\)$/)
    assert.deepStrictEqual(broken(events), [5])
  })

  it("finds one changed character of the first message, of a header, of a replacement", () => {
    assert.deepStrictEqual(broken(tampered(0, () => ({ data: user(MessageId("m0"), "hellO") }))), [2, 5])
    assert.deepStrictEqual(broken(tampered(7, () => ({ data: user(MessageId("m7"), "Summary") }))), [8, 9])
    const head = (event: SessionEvent) => ({ data: JSON.parse(JSON.stringify(event.data).replace("kind", "mean")) })
    assert.deepStrictEqual(broken(tampered(6, head)), [8, 9])
  })

  it("finds every part of a changed record of a request", () => {
    const changed = (seq: number, more: object) => tampered(seq, (event) => ({ data: { ...event.data, ...more } }))
    assert.deepStrictEqual(broken(changed(5, { sha256: "0".repeat(64) })), [5])
    assert.deepStrictEqual(broken(changed(5, { bytes: 1 })), [5])
    const [, second] = check(changed(5, { of: "wire" }))
    assert.strictEqual(second!.problem, "it is recorded as wire, and its format is neutral")
  })

  it("finds a missing event", () => {
    const without = makeRequests().filter(({ seq }) => seq !== 4)
    assert.include(broken(without), 5)
  })

  it("knows why a request cannot be rebuilt when events before it are lost, until the log goes on", () => {
    const log = makeRequests()
    const damaged = log.with(3, { type: "session/lost", seq: 3, time: 0, data: {}, ignorable: true })
    const lost = check(damaged).map(({ isLost, seq }) => [seq, isLost])
    assert.deepStrictEqual(lost.slice(0, 2), [
      [2, undefined],
      [5, true]
    ])
    const goneOn = damaged.toSpliced(4, 0, { type: "session/end-seed", seq: 4, time: 0, data: {} })
    assert.strictEqual(check(goneOn)[1]?.problem, check(damaged)[1]?.problem)
    assert.notProperty(check(goneOn)[1], "isLost")
  })

  it("does not mind what the model never saw", () => {
    const log = makeRequests()
    const noisy = log.flatMap((event): ReadonlyArray<SessionEvent> => [
      event,
      { type: "step/start", seq: event.seq, time: 0, data: { turn: 1, step: 1 } }
    ])
    assert.deepStrictEqual(broken(noisy), [])
  })

  it("says when there is nothing to rebuild a request with", () => {
    const log = makeLog()
    log.say("hello")
    log.add("request/sent", { turn: 1, step: 1, attempt: 1, bytes: 1, sha256: "", of: "wire" })
    log.head({ wire: { format: "elsewhere" } })
    log.add("request/sent", { turn: 1, step: 1, attempt: 2, bytes: 1, sha256: "", of: "wire" })
    assert.deepStrictEqual(
      check(log.events).map(({ problem }) => problem),
      ["no request/header precedes it", 'the format "elsewhere" is not installed']
    )
  })

  it("reads no further than it is asked to", () => {
    let read = 0
    const events = function* () {
      for (const event of makeRequests()) {
        read++
        yield event
      }
    }
    const first = verify(events(), formatOf, newHash).next()
    assert.strictEqual(first.done, false)
    assert.strictEqual(read, requests[0]! + 1)
    assert.isTrue(Either.isRight(Conversation.empty().check(makeRequests()[0]!)))
  })
})
