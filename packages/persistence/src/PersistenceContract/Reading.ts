/**
 * Rules about loading and listing.
 */
import { SessionId } from "@dsh/protocol/Ids"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import * as Effect from "effect/Effect"
import type { ContractCase } from "../PersistenceContract.ts"
import { same, sameHeader } from "./Expect.ts"
import * as Samples from "./Samples.ts"

const { header, id, turn, turnLength } = Samples

export const reading: ReadonlyArray<ContractCase> = [
  {
    name: "a log can be read while it is written, and reading changes nothing",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        yield* persistence.append(id, turn(0, 1))
        yield* same("first", (yield* persistence.load(id)).length, turnLength)
        yield* same("again", (yield* persistence.load(id)).length, turnLength)
        yield* persistence.append(id, turn(turnLength, 2))
        yield* same("later", (yield* persistence.load(id)).length, turnLength * 2)
      })
  },
  {
    name: "what was loaded stays as it was while the log grows, and can be read more than once",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        yield* persistence.append(id, Samples.mixed)
        const stored = yield* persistence.load(id)
        const before = [...stored.events]
        yield* persistence.append(id, turn(stored.length, 2))
        yield* same("events", [...stored.events], before)
      })
  },
  {
    name: "events of extensions come back unchanged, with their mark",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        // As text: a program without the extension has no types for its events.
        const foreign: ReadonlyArray<SessionEvent> = JSON.parse(
          `[{"type":"acme/note","seq":0,"time":1,"data":{"any":["thing",null]},"ignorable":true},
            {"type":"acme/other","seq":1,"time":2,"data":"text"}]`
        )
        yield* persistence.append(id, foreign)
        yield* same("events", [...(yield* (yield* storage.open).load(id)).events], foreign)
      })
  },
  {
    name: "the list knows size and age, and has the last used first",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        const [early, late] = [header({ id: SessionId("early") }), header({ id: SessionId("late"), cwd: "/other" })]
        yield* persistence.create(late)
        yield* persistence.create(early)
        yield* persistence.append(early.id, turn(0, 1))
        yield* persistence.append(late.id, [...turn(0, 1), ...turn(turnLength, 2)])
        const { sessions, warnings } = yield* (yield* storage.open).list
        yield* same("warnings", warnings, [])
        yield* same(
          "sessions",
          sessions.map(({ header: { id }, length, updatedAt }) => [id, length, updatedAt]),
          [
            ["late", turnLength * 2, 1_700_000_001_011],
            ["early", turnLength, 1_700_000_001_005]
          ]
        )
        for (const { header: listed } of sessions) {
          yield* sameHeader(listed, Samples.asStored(listed.id === late.id ? late : early))
        }
      })
  }
]
