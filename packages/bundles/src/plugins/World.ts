/**
 * The execution world: files and programs of this machine, confined as each session is, or not at all.
 */
import * as Plugin from "@dsh/kernel/Plugin"
import * as FsConfined from "@dsh/sandbox/FsConfined"
import { Sandbox, SandboxError, remedy } from "@dsh/sandbox/Sandbox"
import * as SandboxBwrap from "@dsh/sandbox/SandboxBwrap"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import * as SandboxPolicyLocal from "@dsh/sandbox/SandboxPolicyLocal"
import * as ToolConfinement from "@dsh/sandbox/ToolConfinement"
import { EventTypes } from "@dsh/session/EventTypes"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { Execute } from "@dsh/tools/ToolHooks"
import { modes } from "@dsh/world/Confinement"
import { Fs } from "@dsh/world/Fs"
import * as FsLocal from "@dsh/world/FsLocal"
import { Subprocess } from "@dsh/world/Subprocess"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Late from "../world/Late.ts"

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

const seatbelt = () => import("@dsh/sandbox/SandboxSeatbelt").then(({ layer }) => layer)

const sandbox = Plugin.make({
  name: "@dsh/sandbox/Sandbox",
  description: "Confinement of programs by the operating system: bubblewrap on Linux, Seatbelt on macOS.",
  provides: [Sandbox],
  layer: () =>
    Layer.suspend(() => {
      switch (process.platform) {
        case "linux":
          return Layer.provide(SandboxBwrap.layer(), Late.local)
        case "darwin":
          return Layer.provide(Layer.unwrapEffect(Effect.promise(seatbelt)), Late.local)
        default:
          return none(process.platform)
      }
    })
})

const Policy = Schema.Struct({
  mode: Schema.optionalWith(Schema.Literal(...modes), { exact: true }).annotations({
    description: "Of sessions that name none. Default `read-only`."
  }),
  network: Schema.optionalWith(Schema.Literal("on", "off"), { exact: true }).annotations({
    description: "Whether confined commands reach the network. Default `on`."
  }),
  hidden: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }).annotations({
    description: "Files and folders that nothing confined may look at, absolute."
  })
})

const policy = Plugin.make({
  name: "@dsh/sandbox/SandboxPolicyLocal",
  description: "How far each session's tools may go.",
  config: Policy,
  provides: [SandboxPolicy],
  layer: SandboxPolicyLocal.layer
})

const confinement = Plugin.make({
  name: "@dsh/sandbox/ToolConfinement",
  description: "Runs each tool call under the confinement of its session, and tells the model of it.",
  requires: [EventTypes, SystemPrompt, Execute, SandboxPolicy],
  layer: () => ToolConfinement.layer
})

const fsConfined = Plugin.make({
  name: "@dsh/sandbox/FsConfined",
  description: "Files of this machine, within the confinement of each call.",
  provides: [Fs],
  requires: [SandboxPolicy],
  layer: () => Layer.provide(FsConfined.layer, FsLocal.layer)
})

const subprocessConfined = Plugin.make({
  name: "@dsh/sandbox/SubprocessConfined",
  description: "Programs of this machine, within the confinement of each call.",
  provides: [Subprocess],
  requires: [Sandbox, SandboxPolicy, Fs],
  layer: () => Late.confined
})

const fsLocal = Plugin.make({
  name: "@dsh/world/FsLocal",
  description: "Files of this machine, without any confinement.",
  provides: [Fs],
  layer: () => FsLocal.layer
})

const subprocessLocal = Plugin.make({
  name: "@dsh/world/SubprocessLocal",
  description: "Programs of this machine, without any confinement.",
  provides: [Subprocess],
  layer: () => Late.local
})

export const plugins = [sandbox, policy, confinement, fsConfined, subprocessConfined, fsLocal, subprocessLocal]
