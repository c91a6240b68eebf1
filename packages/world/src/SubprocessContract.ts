/**
 * What every `Subprocess` must do that runs programs of a POSIX world with bash, coreutils and setsid, as programs that any test runner
 * can run:
 *
 *   for (const { name, run } of SubprocessContract.cases) {
 *     it.scopedLive(name, () => Effect.flatMap(world, run))
 *   }
 *
 * A provider is finished when all of them succeed. Whether something still runs is never asked of a process table, which not every
 * world shows: who runs holds a pipe, and whoever reads the pipe hears of its end.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Env } from "./AmbientEnv.ts"
import type { ContractViolation } from "./ContractViolation.ts"
import type { Fs, FsError } from "./Fs.ts"
import type { Subprocess, SubprocessError } from "./Subprocess.ts"
import { collecting } from "./SubprocessContract/Collecting.ts"
import { ending } from "./SubprocessContract/Ending.ts"
import { starting } from "./SubprocessContract/Starting.ts"

export { ContractViolation } from "./ContractViolation.ts"

export interface World {
  /** Another service in the same world. Its programs inherit `inherited`, and a PATH that leads to bash. */
  readonly open: (inherited?: Env) => Effect.Effect<Subprocess["Type"], never, Scope.Scope>
  /** The files that the programs see. */
  readonly fs: Fs["Type"]
  /** A folder that is there and empty, and that programs may write to; absolute and canonical. */
  readonly cwd: string
}

export interface ContractCase {
  /** The rule, as a sentence. */
  readonly name: string
  readonly run: (world: World) => Effect.Effect<void, ContractViolation | SubprocessError | FsError, Scope.Scope>
}

export const cases: ReadonlyArray<ContractCase> = [...starting, ...collecting, ...ending]
