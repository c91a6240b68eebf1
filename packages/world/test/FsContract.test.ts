// The rules of `Fs`, for every provider of this package.
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as NodeFs from "node:fs/promises"
import * as FsContract from "../src/FsContract.ts"
import * as FsLocal from "../src/FsLocal.ts"
import * as FsMemory from "../src/FsMemory.ts"
import { tempDir } from "./support.ts"

const diskLinks: Required<FsContract.Links> = {
  symbolic: (destination, path) => Effect.promise(() => NodeFs.symlink(destination, path)),
  hard: (existing, path) => Effect.promise(() => NodeFs.link(existing, path))
}

describe("FsLocal", () => {
  const world = Effect.map(tempDir, (cwd): FsContract.World => ({
    open: Effect.sync(FsLocal.make),
    cwd,
    links: diskLinks
  }))
  for (const { name, run } of FsContract.casesFor(diskLinks)) {
    it.scopedLive(name, () => Effect.flatMap(world, run))
  }
})

describe("FsMemory", () => {
  const world = Effect.sync((): FsContract.World => {
    const files = new FsMemory.MemoryFiles()
    files.makeFolder("/w")
    const symbolic = (destination: string, path: string) => Effect.sync(() => files.makeLink(destination, path))
    return { open: Effect.sync(() => FsMemory.make(files)), cwd: "/w", links: { symbolic } }
  })
  for (const { name, run } of FsContract.casesFor({ symbolic: true })) {
    it.scopedLive(name, () => Effect.flatMap(world, run))
  }
})
