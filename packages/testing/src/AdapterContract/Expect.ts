/**
 * Expectations without a test framework: a broken rule is a failure like any other.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** An adapter broke a rule of the contract. */
export class ContractViolation extends Data.TaggedError("ContractViolation")<{ readonly message: string }> {}

/** Equal as JSON text. */
export const same = (what: string, actual: unknown, expected: unknown): Effect.Effect<void, ContractViolation> => {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  return found === wanted
    ? Effect.void
    : new ContractViolation({ message: `${what}: expected ${wanted}, found ${found}` })
}

export const holds = (what: string, condition: boolean): Effect.Effect<void, ContractViolation> =>
  condition ? Effect.void : new ContractViolation({ message: what })
