/**
 * Is killed in the very moment in which its command has been started, before a line of ours can run. The command holds descriptor 3.
 */
import * as Effect from "effect/Effect"
import ChildProcess from "node:child_process"
import type { SpawnOptions } from "node:child_process"
import * as SubprocessLocal from "../../src/SubprocessLocal.ts"

const spawn: (command: string, args: ReadonlyArray<string>, options: SpawnOptions) => ChildProcess.ChildProcess =
  ChildProcess.spawn

const killedAfter: typeof spawn = (command, args, options) => {
  if (command !== "sleep") return spawn(command, args, options)
  spawn(command, args, { ...options, stdio: ["ignore", "ignore", "ignore", 3] })
  process.kill(process.pid, "SIGKILL")
  return process.exit()
}
Object.assign(ChildProcess, { spawn: killedAfter })

const program = Effect.flatMap(SubprocessLocal.make(), (subprocess) =>
  subprocess.spawn({
    argv: ["sleep", "600"],
    cwd: "/",
    stdin: "ignore",
    stdout: { maxBytes: 1000 },
    stderr: { maxBytes: 1000 }
  })
)

void Effect.runPromise(Effect.scoped(program))
