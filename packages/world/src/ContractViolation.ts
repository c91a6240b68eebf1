/**
 * Expectations without a test framework, for the contracts of this package: a broken rule is a failure like any other.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** A provider broke a rule of its contract. */
export class ContractViolation extends Data.TaggedError("ContractViolation")<{ readonly message: string }> {}

export const holds = (what: string, condition: boolean): Effect.Effect<void, ContractViolation> =>
  condition ? Effect.void : new ContractViolation({ message: `it does not hold that ${what}` })

/** Equal as JSON text. */
export const same = (what: string, actual: unknown, expected: unknown): Effect.Effect<void, ContractViolation> => {
  const [found, wanted] = [text(actual), text(expected)]
  return found === wanted
    ? Effect.void
    : new ContractViolation({ message: `${what}: expected ${brief(wanted)}, found ${brief(found)}` })
}

interface Refusal {
  readonly code: string
  readonly message: string
}

/** Fails with this code, and a message that says `naming`. */
export const refused = <A, E extends Refusal, R>(
  what: string,
  effect: Effect.Effect<A, E, R>,
  code: E["code"],
  naming = ""
): Effect.Effect<E, ContractViolation, R> =>
  Effect.matchEffect(effect, {
    onSuccess: () => new ContractViolation({ message: `${what}: expected ${code}, it succeeded` }),
    onFailure: (error) =>
      error.code === code && error.message.includes(naming)
        ? Effect.succeed(error)
        : new ContractViolation({
            message: `${what}: expected ${code} about "${naming}", found ${error.code} (${error.message})`
          })
  })

const text = (value: unknown): string => JSON.stringify(value) ?? "undefined"

const brief = (found: string): string => (found.length > 2000 ? `${found.slice(0, 2000)}…` : found)
