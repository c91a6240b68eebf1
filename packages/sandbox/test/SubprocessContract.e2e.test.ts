// The rules of `Subprocess`, for one whose programs run under the real bubblewrap.
import { AmbientEnv } from "@dsh/world/AmbientEnv"
import { Fs } from "@dsh/world/Fs"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessContract from "@dsh/world/SubprocessContract"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as FsConfined from "../src/FsConfined.ts"
import * as SandboxBwrap from "../src/SandboxBwrap.ts"
import * as SubprocessConfined from "../src/SubprocessConfined.ts"
import { canConfine, world } from "./support.ts"

describe.skipIf(!canConfine).each([
  ["workspace-write", "beside"],
  ["workspace-write", "temp"],
  ["danger-full-access", "temp"]
] as const)(
  `SubprocessConfined over SubprocessLocal, %s, in a %s folder${canConfine ? "" : ": skipped, bubblewrap is not there"}`,
  (mode, place) => {
    const confined = Effect.gen(function* () {
      const { confinement, workspace } = yield* world({ mode }, place)
      const standing = Effect.succeed(confinement)
      const cwd = join(workspace, "here")
      mkdirSync(cwd)
      const fs = yield* Effect.provide(FsConfined.make(standing), FsLocal.layer)
      const open: SubprocessContract.World["open"] = (inherited) => {
        const env = inherited === undefined ? process.env : { PATH: process.env["PATH"], ...inherited }
        const inner = SandboxBwrap.layer().pipe(
          Layer.provideMerge(SubprocessLocal.layer({ graceMs: 200 })),
          Layer.provide(Layer.succeed(AmbientEnv, env)),
          Layer.merge(Layer.succeed(Fs, fs))
        )
        return Effect.flatMap(Layer.build(inner), (context) =>
          Effect.provide(SubprocessConfined.make(standing), context)
        )
      }
      return { open, fs, cwd } satisfies SubprocessContract.World
    })
    for (const { name, run } of SubprocessContract.cases) {
      it.scopedLive(name, () => Effect.flatMap(confined, run))
    }
  }
)
