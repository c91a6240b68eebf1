/**
 * Live reload: a composition that runs becomes what its files say, whenever they have changed.
 *
 *   yield* Reloading.watch({ files, recompose, composition, report: (what) => output.notice(Reloading.show(what)) })
 *
 * Rows that are the same keep their state. What cannot be composed or started is reported, and what ran before goes on.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { Composition } from "./Composition.ts"
import type { Summary } from "./Composition/Difference.ts"
import type { CompositionError } from "./CompositionError.ts"
import type { Graph } from "./Graph.ts"
import * as Watching from "./Reloading/Watching.ts"

export type Report =
  | { readonly _tag: "Changed"; readonly summary: Summary }
  /** It goes on as it was. */
  | { readonly _tag: "Refused"; readonly error: CompositionError }

export interface Options<R = never> {
  /** Absolute; they may not exist, nor their folders. */
  readonly files: ReadonlyArray<string>
  /** What the files say now. */
  readonly recompose: Effect.Effect<Graph, CompositionError, R>
  readonly composition: Pick<Composition["Type"], "change">
  readonly report: (report: Report) => void
}

/** A sentence for people. */
export const show = (report: Report): string => {
  if (report._tag === "Refused") return `the composition stays as it was: ${report.error.message}`
  const { added, removed, restarted } = report.summary
  const parts = [
    ["restarted", restarted],
    ["added", added],
    ["removed", removed]
  ] as const
  const changed = parts.flatMap(([what, ids]) => (ids.length === 0 ? [] : [`${what} ${ids.join(", ")}`]))
  return `the composition has changed: ${changed.join("; ")}`
}

/** As long as an editor needs for all that it does to a file at once. */
const settled = "100 millis"

/** Whoever writes all the time is not waited for. */
const maxWaits = 10

/** Watches for as long as the current Scope is open. What was changed since the composition was made counts as well. */
export const watch = <R>(options: Options<R>): Effect.Effect<void, never, R | Scope.Scope | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const { composition, files, recompose, report } = options
    // One that is taken while another is dealt with is not lost, and more than one says no more.
    const pulses = yield* Queue.sliding<void>(1)
    yield* Effect.forEach(
      yield* Watching.foldersOf(files),
      ([folder, names]) => Effect.forkScoped(Watching.pulse(folder, names, Queue.offer(pulses, undefined))),
      { discard: true }
    )

    const rest = Effect.gen(function* () {
      for (let waits = 0; waits < maxWaits; waits++) {
        yield* Effect.sleep(settled)
        if ((yield* Queue.takeAll(pulses)).length === 0) return
      }
    })

    const apply = Effect.gen(function* () {
      const summary = yield* composition.change(yield* recompose)
      const isChanged = Object.values(summary).some((ids) => ids.length > 0)
      if (isChanged) report({ _tag: "Changed", summary })
    }).pipe(Effect.catchTag("CompositionError", (error) => Effect.sync(() => report({ _tag: "Refused", error }))))

    let seen: string | undefined
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.gen(function* () {
          yield* Queue.take(pulses)
          yield* rest
          const content = yield* Watching.contentOf(files)
          if (content === seen) return
          seen = content
          yield* apply
        })
      )
    )
    yield* Queue.offer(pulses, undefined)
  })
