/**
 * Opening a log of 100 000 events, against parsing the JSON of its lines and nothing else.
 */
import * as PersistenceJsonl from "@dsh/persistence/PersistenceJsonl"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Header from "@dsh/protocol/SessionHeader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import * as Home from "../Home.ts"
import * as Row from "../Row.ts"
import * as Samples from "../Samples.ts"

const events = 100_000
const limit = 3
const rounds = 7
const id = SessionId("bench")

const event = (seq: number): SessionEvent => ({
  type: "user/message",
  seq,
  time: seq,
  data: Message.user(
    MessageId(`message-${seq}`),
    `A prompt of about the usual length, number ${seq}, that says something.`
  ),
  surfaceOp: "append"
})

const timed = <A>(run: () => A): readonly [number, A] => {
  const startedAt = performance.now()
  const value = run()
  return [performance.now() - startedAt, value]
}

const parse = (path: string): number => {
  const [millis] = timed(() => {
    for (const line of readFileSync(path, "utf8").split("\n")) if (line !== "") JSON.parse(line)
  })
  return millis
}

export const load: Row.Row = {
  what: `load a log of ${events} events`,
  target: `≤ ${limit} × JSON.parse of its lines`,
  measure: Effect.gen(function* () {
    const root = yield* Home.make
    const measured = yield* Effect.gen(function* () {
      const persistence = yield* SessionPersistence
      const header = yield* Header.make({ id, createdAt: 0, cwd: root })
      yield* persistence.create(header)
      yield* persistence.append(
        id,
        Array.from({ length: events }, (_, seq) => event(seq))
      )
      const path = (yield* persistence.locate(id)) ?? ""
      const floor: Array<number> = []
      const loads: Array<number> = []
      for (let round = 0; round <= rounds; round++) {
        const parsed = parse(path)
        const startedAt = performance.now()
        const stored = yield* persistence.load(id)
        const loaded = performance.now() - startedAt
        if (stored.length !== events || round === 0) continue
        floor.push(parsed)
        loads.push(loaded)
      }
      return Row.compare(Samples.of(floor), Samples.of(loads), "ms", limit)
    }).pipe(
      Effect.provide(
        PersistenceJsonl.layer({ root }).pipe(Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))
      )
    )
    return measured
  }).pipe(Effect.scoped, Effect.orDie)
}
