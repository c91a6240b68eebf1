/**
 * Rules about what a program gets, and about programs that cannot be started.
 */
import * as Effect from "effect/Effect"
import { holds, refused, same } from "../ContractViolation.ts"
import type { SpawnSpec, SubprocessErrorCode } from "../Subprocess.ts"
import type { ContractCase } from "../SubprocessContract.ts"
import * as Bash from "./Bash.ts"

const refusals: ReadonlyArray<readonly [what: string, spec: Partial<SpawnSpec>, code: SubprocessErrorCode]> = [
  ["no program", { argv: [] }, "SUBPROCESS_INVALID_SPEC"],
  ["a program without a name", { argv: [""] }, "SUBPROCESS_INVALID_SPEC"],
  ["NUL in an argument", { argv: ["echo", "a\0b"] }, "SUBPROCESS_INVALID_SPEC"],
  ["NUL in the folder", { cwd: "/a\0b" }, "SUBPROCESS_INVALID_SPEC"],
  ["no memory for output", { stdout: { maxBytes: 0 } }, "SUBPROCESS_INVALID_SPEC"],
  ["half a byte for errors", { stderr: { maxBytes: 0.5 } }, "SUBPROCESS_INVALID_SPEC"],
  ["no grace", { graceMs: 0 }, "SUBPROCESS_INVALID_SPEC"],
  ["a program that is not there", { argv: ["no-such-program-here"] }, "SUBPROCESS_NOT_FOUND"],
  ["a path to no program", { argv: ["/no/such/program"] }, "SUBPROCESS_NOT_FOUND"],
  ["a file that is no program", { argv: ["/etc/passwd"] }, "SUBPROCESS_PERMISSION_DENIED"],
  ["a folder that is not there", { cwd: "/no/such/folder" }, "SUBPROCESS_CWD_NOT_FOUND"],
  ["a file for a folder", { cwd: "/etc/passwd" }, "SUBPROCESS_CWD_NOT_FOUND"],
  ["an endless argument", { argv: ["echo", "x".repeat(200_000)] }, "SUBPROCESS_TOO_LONG"]
]

export const starting: ReadonlyArray<ContractCase> = [
  {
    name: "output, errors and exit status are the program's, and no shell looks at its arguments",
    run: (world) =>
      Effect.gen(function* () {
        const { run } = yield* Bash.open(world)
        const script = 'printf "%s|" "$@"; echo oops >&2; exit 3'
        const result = yield* run("", { argv: ["bash", "-c", script, "_", "a b", "$HOME", "*", "", "'\"\\"] })
        yield* same("result", result, {
          exitCode: 3,
          signal: null,
          pipeHeld: false,
          stdout: "a b|$HOME|*||'\"\\|",
          stderr: "oops\n"
        })
        yield* holds("a signal is said", Bash.endedBy(yield* run("kill -SEGV $$"), "SIGSEGV", 11))
      })
  },
  {
    name: "it runs in the folder it is told to",
    run: (world) =>
      Effect.gen(function* () {
        const { run } = yield* Bash.open(world)
        yield* same("folder", (yield* run("pwd -P; mkdir below")).stdout, `${world.cwd}\n`)
        const made = yield* run("pwd -P; echo x > f", { cwd: `${world.cwd}/below` })
        yield* same("another", made.stdout, `${world.cwd}/below\n`)
        const target = yield* world.fs.resolve("below/f", { cwd: world.cwd })
        yield* same("what it wrote", Bash.textOf((yield* world.fs.readBytes(target)).bytes), "x\n")
      })
  },
  {
    name: "standard input is what it is given, or at its end at once",
    run: (world) =>
      Effect.gen(function* () {
        const { run } = yield* Bash.open(world)
        yield* same("text", (yield* run("cat", { stdin: { data: "héllo" } })).stdout, "héllo")
        yield* same("bytes", (yield* run("od -An -tx1", { stdin: { data: Uint8Array.of(0, 255) } })).stdout, " 00 ff\n")
        yield* same("nothing", (yield* run("cat; echo end")).stdout, "end\n")
        // More than a pipe holds, and nobody reads it: no error, no hang.
        const unread = yield* run("exit 0", { stdin: { data: new Uint8Array(1_000_000) } })
        yield* same("unread", unread.exitCode, 0)
      })
  },
  {
    name: "there is no terminal",
    run: (world) =>
      Effect.gen(function* () {
        const { run } = yield* Bash.open(world)
        const { stderr, stdout } = yield* run(
          'for i in 0 1 2; do test -t $i && echo "$i"; done; cat </dev/tty || echo none'
        )
        yield* same("terminals", stdout, "none\n")
        yield* holds("opening it was refused", stderr.includes("/dev/tty"))
      })
  },
  {
    name: "of the environment it inherits what is not secret, and it is given what it is given",
    run: (world) =>
      Effect.gen(function* () {
        const secret = "sk-0123456789abcdef"
        const inherited = { PLAIN: "1", LEFT: "1", DEEPSEEK_API_KEY: secret, COPY: secret, GH_PAT: "s", DSH_HOME: "/x" }
        const { run } = yield* Bash.open(world, inherited)
        const env = { GIVEN_TOKEN: "explicit", PLAIN: "2", LEFT: undefined }
        const lines = (yield* run("env", { env })).stdout.split("\n")
        const names = ["GIVEN_TOKEN", "PLAIN", "LEFT", "DEEPSEEK_API_KEY", "COPY", "GH_PAT", "DSH_HOME"]
        const found = names.flatMap((name) => lines.filter((line) => line.startsWith(`${name}=`)))
        yield* same("variables", found, ["GIVEN_TOKEN=explicit", "PLAIN=2"])
        yield* same("without more", (yield* run("echo $PLAIN$LEFT$COPY")).stdout, "11\n")
      })
  },
  {
    name: "what cannot be started is refused, and why",
    run: (world) =>
      Effect.gen(function* () {
        const { bash } = yield* Bash.open(world)
        for (const [what, spec, code] of refusals) {
          yield* refused(what, Effect.scoped(bash("touch started", spec)), code)
        }
        const target = yield* world.fs.resolve("started", { cwd: world.cwd })
        yield* same("nothing was started", yield* world.fs.stat(target), undefined)
      })
  },
  {
    name: "a program has a name that is looked up, or an absolute path, and no other",
    run: (world) =>
      Effect.gen(function* () {
        const { run, subprocess } = yield* Bash.open(world)
        const { cwd } = world
        yield* run("printf '#!/bin/sh\\necho mine' >mytool; chmod +x mytool; echo >plain; mkdir folder")
        const resolve = (name: string, path = `/nowhere:${cwd}`) =>
          subprocess.resolveExecutable(name, { env: { PATH: path } })
        yield* same("by name", yield* resolve("mytool"), `${cwd}/mytool`)
        yield* same("by path", yield* resolve(`${cwd}/mytool`, ""), `${cwd}/mytool`)
        yield* same("it runs", (yield* run("", { argv: [yield* resolve("mytool")] })).stdout, "mine\n")
        yield* holds("bash is there", (yield* subprocess.resolveExecutable("bash")).endsWith("/bash"))
        for (const name of ["plain", "folder", "missing", `${cwd}/plain`, `${cwd}/missing`]) {
          yield* refused(name, resolve(name), "SUBPROCESS_NOT_FOUND", name)
        }
        // From wherever it is looked up: that is the folder.
        const relative = `.:${"../".repeat(40)}${cwd.slice(1)}`
        yield* refused("in no relative folder", resolve("mytool", relative), "SUBPROCESS_NOT_FOUND", "mytool")
        for (const name of ["./mytool", "folder/x", ""]) yield* refused(name, resolve(name), "SUBPROCESS_INVALID_SPEC")
      })
  }
]
