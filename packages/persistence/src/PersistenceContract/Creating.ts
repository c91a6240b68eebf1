/**
 * Rules about ids and headers.
 */
import { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import type { ContractCase } from "../PersistenceContract.ts"
import { refused, same, sameHeader } from "./Expect.ts"
import * as Samples from "./Samples.ts"

const { header, id } = Samples

export const creating: ReadonlyArray<ContractCase> = [
  {
    name: "create, append, load gives back the same header and the same events",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        const given = header({
          parentSession: SessionId("parent"),
          seedLength: 2,
          origin: "subagent",
          delegationDepth: 3
        })
        yield* persistence.create(given)
        yield* persistence.append(id, Samples.turn(0, 1))
        const stored = yield* (yield* storage.open).load(id)
        yield* sameHeader(stored.header, Samples.asStored(given))
        yield* same("events", [...stored.events], Samples.turn(0, 1))
        yield* same("length", stored.length, Samples.turnLength)
        yield* same("torn bytes", stored.tornBytes, 0)
      })
  },
  {
    name: "a header without optional members stays without them, and its delegation depth is 0",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        const { cwd: _, ...bare } = header()
        yield* persistence.create(bare)
        yield* persistence.append(id, Samples.turn(0, 1))
        yield* sameHeader((yield* persistence.load(id)).header, Samples.asStored(bare))
      })
  },
  {
    name: "a session that was never written to leaves no trace",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        yield* persistence.append(id, [])
        yield* refused("load", persistence.load(id), "SESSION_NOT_FOUND")
        yield* same("place", yield* persistence.locate(id), undefined)
        yield* same("list", yield* persistence.list, { sessions: [], warnings: [] })
      })
  },
  {
    name: "an id in use is refused",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        yield* refused("same id", Effect.scoped(persistence.create(header())), "SESSION_ALREADY_EXISTS")
      })
  },
  {
    name: "an id that is stored is refused, in whichever project",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* persistence.create(header())
        yield* persistence.append(id, Samples.turn(0, 1))
        const other = yield* storage.open
        yield* refused("same id", Effect.scoped(other.create(header())), "SESSION_ALREADY_EXISTS")
        yield* refused(
          "same id, other project",
          Effect.scoped(other.create(header({ cwd: "/elsewhere" }))),
          "SESSION_ALREADY_EXISTS"
        )
      })
  },
  {
    name: "an id that was never written to is free again when its session ends",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        yield* Effect.scoped(persistence.create(header()))
        yield* persistence.create(header({ createdAt: 7 }))
        yield* persistence.append(id, Samples.turn(0, 1))
        yield* same("created", (yield* persistence.load(id)).header.createdAt, 7)
      })
  },
  {
    name: "a header that is wrong is refused and takes no id",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        const wrong = [{ createdAt: 1.5 }, { cwd: "relative" }, { seedLength: -1 }, { version: 999 }]
        for (const fields of wrong) {
          yield* refused(
            JSON.stringify(fields),
            Effect.scoped(persistence.create(header(fields))),
            "INVALID_SESSION_HEADER"
          )
        }
        yield* persistence.create(header())
      })
  },
  {
    name: "any two ids are two sessions, whatever characters they are made of",
    run: (storage) =>
      Effect.gen(function* () {
        const persistence = yield* storage.open
        const ids = [
          ".",
          "..",
          "../a",
          "a/b",
          "a\\b",
          "a~b",
          "a~002Fb",
          "A b",
          "\u00e9",
          "e\u0301",
          "\ud800",
          "con",
          "-x"
        ]
        for (const [n, text] of ids.entries()) {
          yield* persistence.create(header({ id: SessionId(text), createdAt: n }))
          yield* persistence.append(SessionId(text), Samples.turn(0, 1))
        }
        const other = yield* storage.open
        for (const [n, text] of ids.entries()) {
          const { header: found } = yield* other.load(SessionId(text))
          yield* same(text, [found.id, found.createdAt], [text, n])
        }
        yield* same("listed", (yield* other.list).sessions.length, ids.length)
      })
  }
]
