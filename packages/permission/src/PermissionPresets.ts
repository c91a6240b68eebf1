/**
 * Presets: a name for how far the tools of a session may go, made of a sandbox mode and an approval policy.
 *
 * A new session is pinned to one when it is created, so that a later change of the default does not change it; one that is resumed or
 * forked keeps what its log says.
 */
import * as SandboxMode from "@dsh/sandbox/SandboxMode"
import type { SandboxMode as Mode } from "@dsh/world/Confinement"
import { AgentError } from "@dsh/agent/AgentError"
import { AgentCreated } from "@dsh/agent/AgentHooks"
import * as EventTypes from "@dsh/session/EventTypes"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Approval } from "./Approval.ts"
import type { Policy } from "./Approval.ts"
import * as Fold from "./Fold.ts"

declare module "@dsh/protocol/SessionEvent" {
  interface SessionEvents {
    /** Chosen from here on; the mode and the policy that it stands for follow, where they change. */
    readonly "permission/preset": { readonly preset: string }
  }
}

export interface Preset {
  readonly sandbox: Mode
  readonly approval: Policy
  readonly description?: string
}

export type Table = Readonly<Record<string, Preset>>

/** What the product has. */
export const standard = {
  "read-only": { sandbox: "read-only", approval: "ask", description: "Tools change no files." },
  "workspace-write": {
    sandbox: "workspace-write",
    approval: "ask",
    description: "Tools change files in the workspace and in temporary folders."
  },
  "danger-full-access": {
    sandbox: "danger-full-access",
    approval: "never",
    description: "Tools may do whatever you may, and nobody is asked."
  }
} as const satisfies Table

export type StandardName = keyof typeof standard

/** What a session has when it is none of the table. */
export const custom = "custom"

export class PresetError extends Data.TaggedError("PresetError")<{
  readonly code: "UNKNOWN_PRESET" | "RESERVED_PRESET"
  readonly message: string
}> {}

export class PermissionPresets extends Context.Tag("@dsh/permission/PermissionPresets")<
  PermissionPresets,
  {
    readonly table: Table
    /** The one that was chosen, while its parts are as it has them; else the first that fits; else `custom`. */
    readonly current: (session: Session) => string
    /** Switches. Logs only what changes. Fails with `UNKNOWN_PRESET`. */
    readonly set: (session: Session, preset: string) => Effect.Effect<void, PresetError | SessionError>
  }
>() {}

export interface Options {
  readonly table?: Table
  /** Of new sessions. */
  readonly preset?: string
}

const chosen = Fold.make<string | undefined>(undefined, (preset, event) =>
  event.type === "permission/preset" ? event.data.preset : preset
)

const unknown = (preset: string, table: Table) =>
  new PresetError({
    code: "UNKNOWN_PRESET",
    message: `there is no permission preset "${preset}"; use one of ${Object.keys(table).join(", ")}`
  })

export const make = (options: Options): Effect.Effect<PermissionPresets["Type"], PresetError, Approval> =>
  Effect.gen(function* () {
    const approval = yield* Approval
    const table: Table = options.table ?? standard
    if (Object.hasOwn(table, custom)) {
      return yield* new PresetError({
        code: "RESERVED_PRESET",
        message: `"${custom}" is what a session has that fits no preset; name yours otherwise`
      })
    }
    const fits = (session: Session, { approval: policy, sandbox }: Preset): boolean =>
      SandboxMode.of(session) === sandbox && approval.policy(session) === policy

    const current = (session: Session): string => {
      const last = chosen(session)
      const preset = last !== undefined && Object.hasOwn(table, last) ? table[last] : undefined
      if (last !== undefined && preset !== undefined && fits(session, preset)) return last
      return Object.keys(table).find((name) => fits(session, table[name]!)) ?? custom
    }

    const set = Effect.fnUntraced(function* (session: Session, name: string) {
      const preset = Object.hasOwn(table, name) ? table[name] : undefined
      if (preset === undefined) return yield* unknown(name, table)
      if (chosen(session) !== name || current(session) !== name) {
        yield* session.append("permission/preset", { preset: name })
      }
      yield* SandboxMode.set(session, preset.sandbox)
      yield* approval.setPolicy(session, preset.approval)
    })

    return PermissionPresets.of({ table, current, set })
  })

const type = EventTypes.layerType("permission/preset", {
  schema: () => Schema.Struct({ preset: Schema.String }),
  ignorable: true
})

/** Pins new sessions. What a log already says is left as it is. */
const pinned = (preset: string) =>
  Layer.unwrapEffect(
    Effect.map(PermissionPresets, (presets) =>
      AgentCreated.hook("permission preset", ({ session }) =>
        chosen(session) === undefined && SandboxMode.of(session) === undefined
          ? Effect.mapError(
              presets.set(session, preset),
              (cause) => new AgentError({ code: "HOOK_FAILED", message: cause.message, cause })
            )
          : Effect.void
      )
    )
  )

/** Fails with `UNKNOWN_PRESET` when the default is none of the table. */
export const layer = (options: Options = {}) => {
  const { preset = "workspace-write" } = options
  const table: Table = options.table ?? standard
  const checked = Object.hasOwn(table, preset) ? pinned(preset) : Layer.fail(unknown(preset, table))
  return checked.pipe(
    Layer.provideMerge(Layer.effect(PermissionPresets, make(options))),
    Layer.merge(Layer.merge(type, SandboxMode.events))
  )
}
