// The rules of `Fs`, for one that confines.
import * as FsContract from "@dsh/world/FsContract"
import * as FsLocal from "@dsh/world/FsLocal"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { link, symlink } from "node:fs/promises"
import { join } from "node:path"
import * as FsConfined from "../src/FsConfined.ts"
import { world } from "./support.ts"

const links: Required<FsContract.Links> = {
  symbolic: (destination, path) => Effect.promise(() => symlink(destination, path)),
  hard: (existing, path) => Effect.promise(() => link(existing, path))
}

describe.each(["workspace-write", "danger-full-access"] as const)("FsConfined over FsLocal, %s", (mode) => {
  const confined = Effect.map(world({ mode }, "beside"), ({ confinement, workspace }): FsContract.World => {
    const cwd = join(workspace, "here")
    mkdirSync(cwd)
    return { open: Effect.provide(FsConfined.make(Effect.succeed(confinement)), FsLocal.layer), cwd, links }
  })
  for (const { name, run } of FsContract.casesFor(links)) {
    it.scopedLive(name, () => Effect.flatMap(confined, run))
  }
})
