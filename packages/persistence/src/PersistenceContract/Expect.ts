/**
 * Expectations without a test framework: a broken rule is a failure like any other.
 */
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { PersistenceError, PersistenceErrorCode } from "../PersistenceError.ts"

/** A backend broke a rule of the contract. */
export class ContractViolation extends Data.TaggedError("ContractViolation")<{ readonly message: string }> {}

/** Equal as JSON text, member order included: requests are rendered from stored messages, byte for byte. */
export const same = (what: string, actual: unknown, expected: unknown): Effect.Effect<void, ContractViolation> => {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  return found === wanted
    ? Effect.void
    : new ContractViolation({ message: `${what}: expected ${wanted}, found ${found}` })
}

/** Equal headers, in whichever order their members come. */
export const sameHeader = (actual: SessionHeader, expected: SessionHeader): Effect.Effect<void, ContractViolation> =>
  same("header", Object.entries(actual).sort(byName), Object.entries(expected).sort(byName))

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

export const refused = <A>(
  what: string,
  effect: Effect.Effect<A, PersistenceError>,
  code: PersistenceErrorCode
): Effect.Effect<PersistenceError, ContractViolation> =>
  Effect.matchEffect(effect, {
    onSuccess: () => new ContractViolation({ message: `${what}: expected ${code}, it succeeded` }),
    onFailure: (error) =>
      error.code === code
        ? Effect.succeed(error)
        : new ContractViolation({ message: `${what}: expected ${code}, found ${error.code} (${error.message})` })
  })
