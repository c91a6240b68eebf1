/**
 * Where a name leads, and whether that is a place to go. Every address that it has counts: which one is taken is not ours to say.
 */
import * as Effect from "effect/Effect"
import { WebError } from "../WebError.ts"
import type { AllowList } from "./AllowList.ts"
import * as Ranges from "./Ranges.ts"
import type { Target } from "./Target.ts"

/** All addresses of a name. Fails where it has none. */
export type Resolve = (host: string) => Promise<ReadonlyArray<string>>

export interface Judge {
  readonly resolve: Resolve
  readonly allow: AllowList
}

/** Names that only mean something on this machine or in its network. */
const own = /^[^.]+$|(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/

const blocked = (host: string, what: string) =>
  new WebError({
    code: "WEB_BLOCKED_URL",
    message:
      `${host} leads to ${what}, so nothing was sent to it; only what is on the internet is fetched. ` +
      "The user can allow it: list the host or its network in DSH_WEB_ALLOW"
  })

/**
 * The addresses to connect to, all of which are fine. A name that cannot be found here is left to a proxy, if one is on the way: it may
 * be the only one to know any names.
 */
export const of = (
  { host, port }: Target,
  { allow, resolve }: Judge,
  isProxied: boolean
): Effect.Effect<ReadonlyArray<string>, WebError> =>
  Effect.gen(function* () {
    const isLiteral = Ranges.parse(host) !== undefined
    const found = isLiteral ? [host] : yield* lookUp(host, resolve)
    for (const address of found) {
      if (allow.permits(host, port, address)) continue
      const what = Ranges.objection(address)
      if (what !== undefined) return yield* blocked(host, isLiteral ? what : `${address}, ${what}`)
    }
    if (found.length > 0) return found
    if (isProxied) {
      if (!own.test(host) || allow.permits(host, port, "")) return []
      return yield* blocked(host, "a place that only this machine or its network knows")
    }
    return yield* new WebError({
      code: "WEB_PROVIDER_ERROR",
      message: `the host name ${host} cannot be found; check the address`
    })
  })

/** Nothing, where the name cannot be found for whatever reason. */
const lookUp = (host: string, resolve: Resolve): Effect.Effect<ReadonlyArray<string>> =>
  // This machine, whatever a name server thinks of it.
  host === "localhost" || host.endsWith(".localhost")
    ? Effect.succeed(["127.0.0.1", "::1"])
    : Effect.orElseSucceed(
        Effect.tryPromise(() => resolve(host)),
        () => []
      )
