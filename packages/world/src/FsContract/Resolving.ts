/**
 * Rules about paths: which of them are one place, and which are none.
 */
import * as Effect from "effect/Effect"
import type { ContractCase } from "../FsContract.ts"
import { holds, refused, same } from "../ContractViolation.ts"
import * as Place from "./Place.ts"

export const resolving: ReadonlyArray<ContractCase> = [
  {
    name: "all ways to write the path of a file have one key, and display as absolute paths",
    run: (world) =>
      Effect.gen(function* () {
        const { at, write } = yield* Place.open(world)
        const { cwd } = world
        yield* write("real/deep/other", "")
        yield* write("real/file", "x")
        const direct = { targetKey: `${cwd}/real/file`, displayPath: `${cwd}/real/file` }
        const paths = ["real/file", `${cwd}/real/file`, "./real/file", "real//file", `${cwd}/.//real/./file`]
        for (const path of [...paths, "real/deep/../file", "real/deep/.././deep/../file"]) {
          yield* same(path, yield* at(path), direct)
        }
        for (const path of [".", "./", "real/..", `${cwd}/`, ""]) yield* same(path, (yield* at(path)).targetKey, cwd)
        yield* same("above the root", (yield* at("/../..")).targetKey, "/")
      })
  },
  {
    name: "a place that is missing is its deepest folder that is there plus the rest",
    run: (world) =>
      Effect.gen(function* () {
        const { at, names, write } = yield* Place.open(world)
        yield* write("real/file", "x")
        yield* same("missing", (yield* at("real/a/b/c")).targetKey, `${world.cwd}/real/a/b/c`)
        yield* same("up from what is missing", (yield* at("gone/../real/x")).targetKey, `${world.cwd}/real/x`)
        yield* same("nothing came into being", yield* names(), ["real"])
      })
  },
  {
    name: "nothing is below a file, and nothing has a NUL in its name",
    run: (world) =>
      Effect.gen(function* () {
        const { at, write } = yield* Place.open(world)
        yield* write("file", "x")
        for (const path of ["file/below", "file/below/that", "./file/../file/x"]) {
          yield* refused(path, at(path), "FS_NOT_DIRECTORY", "file/")
        }
        yield* refused("NUL", at("a\0b"), "FS_IO_ERROR", "a\0b")
      })
  },
  {
    name: "a symbolic link is another name of what it leads to",
    needs: "symbolic",
    run: (world) =>
      Effect.gen(function* () {
        const { at, link, write } = yield* Place.open(world)
        const { cwd } = world
        yield* write("real/deep/file", "x")
        yield* link("real", "alias")
        yield* link(`${cwd}/alias/deep`, "absolute")
        yield* link("absolute", "real/chain")
        yield* link("../real/deep/file", "real/up")
        const targetKey = `${cwd}/real/deep/file`
        for (const name of ["alias/deep/file", "absolute/file", "alias/up"]) {
          yield* same(name, yield* at(name), { targetKey, displayPath: `${cwd}/${name}` })
        }
        yield* same("above the root", (yield* at(`/..${cwd}/alias/up`)).targetKey, targetKey)
        yield* same("a folder", (yield* at("absolute")).targetKey, `${cwd}/real/deep`)
        yield* same("a new file", (yield* at("alias/a/b")).targetKey, `${cwd}/real/a/b`)
      })
  },
  {
    name: "a link that dangles stands for the place it leads to",
    needs: "symbolic",
    run: (world) =>
      Effect.gen(function* () {
        const { at, link, write } = yield* Place.open(world)
        const { cwd } = world
        yield* write("real/file", "x")
        yield* link("real/gone", "dangling")
        yield* link("dangling", "twice")
        yield* link(`${cwd}/real/gone/too`, "absolute")
        yield* same("dangling", (yield* at("dangling")).targetKey, `${cwd}/real/gone`)
        yield* same("below it", (yield* at("twice/x")).targetKey, `${cwd}/real/gone/x`)
        yield* same("absolute", (yield* at("absolute")).targetKey, `${cwd}/real/gone/too`)
      })
  },
  {
    name: "a link is followed before it goes up, and then the key is what is displayed",
    needs: "symbolic",
    run: (world) =>
      Effect.gen(function* () {
        const { at, link, write } = yield* Place.open(world)
        const { cwd } = world
        yield* write("real/deep/file", "x")
        yield* link("real/deep", "link")
        const up = { targetKey: `${cwd}/real/x`, displayPath: `${cwd}/real/x` }
        yield* same("up", yield* at("link/../x"), up)
        yield* same("up twice", (yield* at("link/../../x")).targetKey, `${cwd}/x`)
      })
  },
  {
    name: "links that lead in a circle, or below a file, lead nowhere",
    needs: "symbolic",
    run: (world) =>
      Effect.gen(function* () {
        const { at, link, write } = yield* Place.open(world)
        yield* write("file", "x")
        yield* link("loop", "loop")
        yield* link("there", "here")
        yield* link("here/x", "there")
        yield* link("file/x", "through")
        for (const path of ["loop", "loop/x", "here"]) yield* refused(path, at(path), "FS_IO_ERROR", path)
        yield* refused("through", at("through"), "FS_NOT_DIRECTORY", "through")
        // Others are none the worse for it.
        yield* holds("the file is there", (yield* at("file")).targetKey === `${world.cwd}/file`)
      })
  }
]
