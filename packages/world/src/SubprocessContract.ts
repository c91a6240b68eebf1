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
 *
 * The suite was seen to fail for each of these, broken on purpose and one at a time. In `SubprocessLocal`: the end waits for who holds
 * the output; a shell looks at the arguments; input is left open; children share a group; secrets, or copies of them, are inherited; what
 * is given is ignored; the file of long output can be read by others, lacks the beginning, has no limit, or one that is off by a byte;
 * the beginning is kept and not the end; reading takes away; a stream loses bytes, or is collected as well; who is ended is not asked,
 * has no time, or is never killed; only the first process is, or only its session; the Scope ends nothing; its owner waits for the
 * grace; the service leaves behind what resists, or starts something when it is closed; ending twice kills; a start that is interrupted
 * leaks; input is taken after its end; a missing folder is a missing program; files without permission, folders, and what a relative
 * PATH leads to are programs; a relative path is looked up.
 * In `SubprocessConfined`: long output is kept where its session does not see it, or named as it does not; what cannot be started is left
 * to the sandbox; the environment, or the folder, is lost.
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
