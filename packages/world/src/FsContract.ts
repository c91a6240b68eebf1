/**
 * What every `Fs` must do, as programs that any test runner can run:
 *
 *   for (const { name, run } of FsContract.casesFor(links)) {
 *     it.scopedLive(name, () => Effect.flatMap(world, run))
 *   }
 *
 * A provider is finished when all of them succeed. What only some file systems have (owners, pipes, devices, files that stage a write)
 * is for the provider's own tests.
 *
 * The suite was seen to fail for each of these, broken on purpose and one at a time. In `FsLocal`: one byte more than allowed is read, or
 * one less; a version is made of the size; a read goes through text; a stream comes in one piece, or lacks one; a listing is sorted by
 * language, or takes links for what they lead to; what is missing has no stat; versions are not looked at, or not of what is missing;
 * a guarded creation renames; a modification has no lock, one by the path as it was written, or one for all files, keeps it when it is
 * interrupted, or writes over anything; a write has no lock; keys keep links; a link that dangles is its own place; `..` is taken away
 * before links are followed; parents are not made; a hard link is cut; a file is written in place, or not cut to its new length;
 * staging is left behind; errors lack the path, or the code for circles and for what is below a file.
 * In `FsMemory`: bytes are not copied on the way in, on the way out, or in pieces; limits, `absent`, versions and either lock are
 * ignored; listings are not sorted; absolute links start where they are; circles are followed; something is below a file; a folder is
 * replaced, or is told to be a file.
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
