/**
 * What every `Fs` must do, as programs that any test runner can run:
 *
 *   for (const { name, run } of FsContract.casesFor(links)) {
 *     it.scopedLive(name, () => Effect.flatMap(world, run))
 *   }
 *
 * A provider is finished when all of them succeed. What only some file systems have (owners, pipes, devices, files that stage a write)
 * is for the provider's own tests.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ContractViolation } from "./ContractViolation.ts"
import type { Fs, FsError } from "./Fs.ts"
import { modifying } from "./FsContract/Modifying.ts"
import { reading } from "./FsContract/Reading.ts"
import { resolving } from "./FsContract/Resolving.ts"
import { writing } from "./FsContract/Writing.ts"

export { ContractViolation } from "./ContractViolation.ts"

/** How links are made, in a world that has them. Paths are absolute; a symbolic link may lead anywhere, and nowhere. */
export interface Links {
  readonly symbolic?: (destination: string, path: string) => Effect.Effect<void>
  readonly hard?: (existing: string, path: string) => Effect.Effect<void>
}

/** A storage of its own. */
export interface World {
  /** Every `open` is another service over the same storage, as if in another process. */
  readonly open: Effect.Effect<Fs["Type"], never, Scope.Scope>
  /** A folder that is there and empty; absolute and canonical. */
  readonly cwd: string
  readonly links?: Links
}

export interface ContractCase {
  /** The rule, as a sentence. */
  readonly name: string
  /** The world must be one in which such links can be made. */
  readonly needs?: keyof Links
  readonly run: (world: World) => Effect.Effect<void, ContractViolation | FsError, Scope.Scope>
}

/** All rules. */
export const cases: ReadonlyArray<ContractCase> = [...resolving, ...reading, ...writing, ...modifying]

/** The rules for a world with such links. */
export const casesFor = (links: { readonly [kind in keyof Links]?: unknown } = {}): ReadonlyArray<ContractCase> =>
  cases.filter(({ needs }) => needs === undefined || links[needs] !== undefined)
