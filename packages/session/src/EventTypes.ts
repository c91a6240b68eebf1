/**
 * The event types that may be appended. The core vocabulary is always there; an extension registers its own, so that a log never
 * holds an event that nobody can read back.
 */
import type * as Realm from "@dsh/kernel/Realm"
import * as Registry from "@dsh/kernel/Registry"
import type { EventType } from "@dsh/protocol/SessionEvent"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"

export interface EventTypeInfo {
  /** Checks the data when a log is read. Taken lazily: writing never decodes. */
  readonly schema: () => Schema.Schema.AnyNoContext
  /** A reader without this extension may skip such events. */
  readonly ignorable: boolean
}

/** One for all realms: whatever brings it, a type means the same in every log. */
export class EventTypes extends Context.Tag("@dsh/session/EventTypes")<
  EventTypes,
  Omit<Registry.Registry<EventTypeInfo>, Realm.Fork>
>() {}

/** The registry without extensions. */
export const make = (): EventTypes["Type"] => {
  const { changes, entries, get, id, own, register, version } = Registry.make<EventTypeInfo>("the event types")
  return { changes, entries, get, id, own, register, version }
}

export const layer: Layer.Layer<EventTypes> = Layer.sync(EventTypes, make)

/** By registry and description: how many want it, and the Scope that holds it. */
const held = new WeakMap<
  EventTypeInfo,
  Map<EventTypes["Type"], { holders: number; readonly scope: Scope.CloseableScope }>
>()

const hold = (types: EventTypes["Type"], type: EventType, info: EventTypeInfo) =>
  Effect.gen(function* () {
    const byRegistry = held.get(info) ?? new Map()
    held.set(info, byRegistry)
    const shared = byRegistry.get(types)
    if (shared !== undefined) return void shared.holders++
    const scope = yield* Scope.make()
    yield* types.register(type, info).pipe(Scope.extend(scope))
    byRegistry.set(types, { holders: 1, scope })
  })

const release = (types: EventTypes["Type"], info: EventTypeInfo) =>
  Effect.suspend(() => {
    const byRegistry = held.get(info)
    const shared = byRegistry?.get(types)
    if (shared === undefined || --shared.holders > 0) return Effect.void
    byRegistry?.delete(types)
    return Scope.close(shared.scope, Exit.void)
  })

/**
 * Makes `type` appendable for as long as the Layer lives. Several features may bring the same description of a type: it is there while
 * one of them is.
 */
export const layerType = (
  type: EventType,
  info: EventTypeInfo
): Layer.Layer<never, Registry.DuplicateName, EventTypes> =>
  Layer.scopedDiscard(
    Effect.flatMap(EventTypes, (types) => Effect.acquireRelease(hold(types, type, info), () => release(types, info)))
  )

const core: Record<string, true> = {
  "turn/start": true,
  "turn/end": true,
  "step/start": true,
  "step/end": true,
  "user/message": true,
  "assistant/chunk": true,
  "assistant/message": true,
  "tool/call": true,
  "tool/result": true,
  "request/header": true,
  "request/context": true,
  "request/sent": true,
  "session/end-seed": true,
  "session/lost": true,
  "session/rewound": true,
  "agent/inbox/spliced": true
}

/** Whether `type` belongs to the core vocabulary. */
export const isCore = (type: string): boolean => Object.hasOwn(core, type)
