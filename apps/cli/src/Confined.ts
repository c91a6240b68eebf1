/**
 * The execution world of the command line: files and programs of this machine, confined as each session is.
 */
import * as FsConfined from "@dsh/sandbox/FsConfined"
import { Sandbox, SandboxError, remedy } from "@dsh/sandbox/Sandbox"
import * as SandboxBwrap from "@dsh/sandbox/SandboxBwrap"
import * as SandboxPolicyLocal from "@dsh/sandbox/SandboxPolicyLocal"
import * as SandboxSeatbelt from "@dsh/sandbox/SandboxSeatbelt"
import * as SubprocessConfined from "@dsh/sandbox/SubprocessConfined"
import * as ToolConfinement from "@dsh/sandbox/ToolConfinement"
import type { Confinement } from "@dsh/world/Confinement"
import * as FsLocal from "@dsh/world/FsLocal"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HomeFolder from "./HomeFolder.ts"

export type Options = Pick<Confinement, "mode" | "network">

const none = (platform: string): Layer.Layer<Sandbox> =>
  Layer.succeed(Sandbox, {
    enforcement: "partial",
    confine: () =>
      Effect.fail(
        new SandboxError({
          code: "SANDBOX_UNAVAILABLE",
          message: `commands cannot be confined on ${platform} yet; ${remedy}`
        })
      ),
    judge: () => ({ kind: "ran" })
  })

const sandbox = Layer.suspend(() => {
  switch (process.platform) {
    case "linux":
      return SandboxBwrap.layer()
    case "darwin":
      return SandboxSeatbelt.layer
    default:
      return none(process.platform)
  }
})

const policy = (options: Options) =>
  Layer.provideMerge(
    ToolConfinement.layer,
    Layer.unwrapEffect(Effect.map(HomeFolder.secrets, (hidden) => SandboxPolicyLocal.layer({ ...options, hidden })))
  )

export const layer = (options: Options) =>
  Layer.provide(SubprocessConfined.layer, SubprocessLocal.layer()).pipe(
    Layer.provideMerge(Layer.provide(sandbox, SubprocessLocal.layer())),
    Layer.provideMerge(Layer.provide(FsConfined.layer, FsLocal.layer)),
    Layer.provideMerge(policy(options))
  )
