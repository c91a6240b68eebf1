/**
 * Rules about reading and writing in one go.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { holds, refused, same } from "../ContractViolation.ts"
import type { FileContent } from "../Fs.ts"
import type { ContractCase } from "../FsContract.ts"
import * as Place from "./Place.ts"

const to = (text: string) => () => Effect.succeed({ value: text, bytes: Place.bytesOf(text) })

const appending = (text: string) => (current: FileContent | undefined) =>
  Effect.as(Effect.yieldNow(), {
    value: text,
    bytes: Place.bytesOf(`${Place.textOf(current?.bytes ?? new Uint8Array(0))}${text}`)
  })

export const modifying: ReadonlyArray<ContractCase> = [
  {
    name: "a modification sees what is there, or that nothing is, and says what it wrote",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, text } = yield* Place.open(world)
        const target = yield* at("deep/f")
        const seen: Array<string | undefined> = []
        const change = (content: string) => (current: FileContent | undefined) => {
          seen.push(current === undefined ? "absent" : `${Place.textOf(current.bytes)} ${current.version}`)
          return to(content)()
        }
        const [made, changed] = [yield* fs.modify(target, change("one")), yield* fs.modify(target, change("two"))]
        yield* same("seen", seen, ["absent", `one ${Place.versionOf("one")}`])
        yield* same("made", made, {
          value: "one",
          written: { operation: "create", version: Place.versionOf("one") }
        })
        yield* same("changed", changed, {
          value: "two",
          written: { operation: "update", version: Place.versionOf("two") }
        })
        yield* same("content", yield* text("deep/f"), "two")
      })
  },
  {
    name: "modifications of one file take turns, by whatever name",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, link, text, write } = yield* Place.open(world)
        yield* write("f", "")
        const names = ["f", "./f", `${world.cwd}//f`]
        if (world.links?.symbolic !== undefined) {
          yield* link("f", "alias")
          names.push("alias")
        }
        const all = Array.from({ length: 24 }, (_, i) => i)
        yield* Effect.forEach(
          all,
          (i) => Effect.flatMap(at(names[i % names.length]!), (target) => fs.modify(target, appending(`${i};`))),
          { concurrency: "unbounded", discard: true }
        )
        const done = (yield* text("f"))
          .split(";")
          .filter((part) => part !== "")
          .map(Number)
        yield* same(
          "done",
          done.sort((a, b) => a - b),
          all
        )
      })
  },
  {
    name: "a write waits for its turn, and the files beside do not",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, text, write } = yield* Place.open(world)
        yield* write("f", "v1")
        const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const held = yield* Effect.fork(
          fs.modify(yield* at("f"), () =>
            Effect.zipRight(Deferred.succeed(begun, undefined), Effect.zipRight(Deferred.await(gate), to("v2")()))
          )
        )
        yield* Deferred.await(begun)
        const after = yield* Effect.fork(write("f", "v3"))
        yield* write("beside", "x")
        yield* fs.modify(yield* at("beside"), to("y"))
        yield* same("meanwhile", [yield* text("f"), yield* text("beside")], ["v1", "y"])
        yield* Deferred.succeed(gate, undefined)
        yield* same("written first", (yield* Fiber.join(held)).written.version, Place.versionOf("v2"))
        yield* Fiber.join(after)
        yield* same("written last", yield* text("f"), "v3")
      })
  },
  {
    name: "a modification that fails does so as it likes, and changes nothing",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, names, text, write } = yield* Place.open(world)
        yield* write("f", "v1")
        for (const path of ["f", "new", "deep/new"]) {
          const fail = fs.modify(yield* at(path), () => Effect.fail("no" as const))
          yield* same("failure", yield* Effect.merge(Effect.map(fail, () => "it succeeded")), "no")
        }
        yield* same("names", yield* names(), ["f"])
        yield* same("content", yield* text("f"), "v1")
        yield* fs.modify(yield* at("f"), to("v2"))
        yield* same("the next", yield* text("f"), "v2")
      })
  },
  {
    name: "what another service wrote meanwhile is not overwritten",
    run: (world) =>
      Effect.gen(function* () {
        const [{ at, fs, text, write }, other] = [yield* Place.open(world), yield* Place.open(world)]
        yield* write("f", "v1")
        const late = (path: string) =>
          Effect.flatMap(at(path), (target) =>
            fs.modify(target, () => Effect.zipRight(Effect.orDie(other.write(path, "theirs")), to("mine")()))
          )
        yield* refused("changed", late("f"), "FS_STALE_VERSION", `${world.cwd}/f`)
        yield* refused("created", late("deep/new"), "FS_NOT_OBSERVED", `${world.cwd}/deep/new`)
        yield* same("contents", [yield* text("f"), yield* text("deep/new")], ["theirs", "theirs"])
      })
  },
  {
    name: "a modification that is interrupted changes nothing and holds nobody up",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, names, text, write } = yield* Place.open(world)
        yield* write("f", "v1")
        const target = yield* at("f")
        const begun = yield* Deferred.make<void>()
        const stuck = yield* Effect.fork(
          fs.modify(target, () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never))
        )
        yield* Deferred.await(begun)
        const waiting = yield* Effect.fork(fs.write(target, Place.bytesOf("never")))
        const patient = yield* Effect.fork(fs.modify(target, appending(", v2")))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(waiting)
        yield* same("content", yield* text("f"), "v1")
        yield* same("names", yield* names(), ["f"])
        yield* Fiber.interrupt(stuck)
        yield* Fiber.join(patient)
        yield* same("who waited", yield* text("f"), "v1, v2")
        yield* write("f", "v3", Place.versionOf("v1, v2"))
        yield* same("the next", yield* text("f"), "v3")
      })
  },
  {
    name: "what cannot be read is not modified",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, text, write } = yield* Place.open(world)
        yield* write("folder/f", "0123456789")
        let asked = false
        const change = () => {
          asked = true
          return to("x")()
        }
        yield* refused("a folder", fs.modify(yield* at("folder"), change), "FS_NOT_REGULAR_FILE", "folder")
        const large = fs.modify(yield* at("folder/f"), change, { maxBytes: 9 })
        yield* refused("too large", large, "FS_TOO_LARGE", `${world.cwd}/folder/f`)
        yield* holds("nobody was asked for a change", !asked)
        yield* same("content", yield* text("folder/f"), "0123456789")
        yield* fs.modify(yield* at("folder/f"), to("x"), { maxBytes: 10 })
      })
  },
  {
    name: "the bytes that a modification sees are its own, and so are those that it gives afterwards",
    run: (world) =>
      Effect.gen(function* () {
        const { at, fs, text, write } = yield* Place.open(world)
        yield* write("f", "abc")
        let held = new Uint8Array(0)
        yield* fs.modify(yield* at("f"), (current) => {
          held = Uint8Array.from(current?.bytes ?? [])
          current?.bytes.fill(0)
          held.set(Place.bytesOf("xyz"))
          return Effect.succeed({ value: null, bytes: held })
        })
        held.fill(0)
        yield* same("content", yield* text("f"), "xyz")
        const fail = fs.modify(yield* at("f"), (current) => Effect.fail(current?.bytes.fill(0)))
        yield* Effect.ignore(fail)
        yield* same("content after a failure", yield* text("f"), "xyz")
      })
  }
]
