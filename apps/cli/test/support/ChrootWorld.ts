/**
 * An execution world that is another root's: `/w/a.txt` is really `<root>/w/a.txt`, for files and for programs. Programs have the
 * system's own folders beside it, which they cannot change.
 */
import { Fs, FsError } from "@dsh/world/Fs"
import type { FsTarget } from "@dsh/world/Fs"
import * as FsLocal from "@dsh/world/FsLocal"
import { Subprocess, SubprocessError } from "@dsh/world/Subprocess"
import type { CollectedOutput, SpawnSpec } from "@dsh/world/Subprocess"
import * as SubprocessLocal from "@dsh/world/SubprocessLocal"
import { rgPath } from "@vscode/ripgrep"
import { Effect, Layer, Stream } from "effect"
import { mkdirSync } from "node:fs"
import { readlink } from "node:fs/promises"
import { dirname, join } from "node:path"

/** The path without links, seen from the root: whatever they say, they lead nowhere else. */
const canonical = async (root: string, path: string): Promise<string> => {
  const ahead = path.split("/").reverse()
  let place = "/"
  let links = 40
  for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
    if (name === "" || name === ".") continue
    const next = name === ".." ? dirname(place) : join(place, name)
    const destination = name === ".." ? undefined : await readlink(root + next).catch(() => undefined)
    if (destination === undefined) place = next
    else if (links-- === 0) throw new Error("a link that leads in a circle")
    else {
      ahead.push(...destination.split("/").reverse())
      if (destination.startsWith("/")) place = "/"
    }
  }
  return place
}

export const fs = (root: string): Fs["Type"] => {
  const local = FsLocal.make()
  const within = ({ displayPath, targetKey }: FsTarget): FsTarget => ({ displayPath, targetKey: root + targetKey })
  const named = ({ cause, code, message }: FsError) =>
    new FsError({ code, message: message.replaceAll(`${root}/`, "/"), cause })
  return Fs.of({
    resolve: (path, { cwd }) =>
      Effect.gen(function* () {
        const absolute = path.startsWith("/") ? path : `${cwd}/${path}`
        const targetKey = yield* Effect.tryPromise({
          try: () => canonical(root, absolute),
          catch: (cause) => new FsError({ code: "FS_IO_ERROR", message: `${path}: ${String(cause)}`, cause })
        })
        // Whether it can be a place at all is for the system to say.
        yield* local.resolve(root + targetKey, { cwd: root })
        const displayPath = absolute.split("/").includes("..") ? targetKey : join(absolute)
        return { targetKey, displayPath }
      }).pipe(Effect.mapError(named)),
    stat: (target) => Effect.mapError(local.stat(within(target)), named),
    readBytes: (target, options) => Effect.mapError(local.readBytes(within(target), options), named),
    streamBytes: (target) => Stream.mapError(local.streamBytes(within(target)), named),
    listDir: (target) => Effect.mapError(local.listDir(within(target)), named),
    write: (target, bytes, options) => Effect.mapError(local.write(within(target), bytes, options), named),
    modify: (target, change, options) =>
      local
        .modify(within(target), change, options)
        .pipe(Effect.mapError((error) => (error instanceof FsError ? named(error) : error)))
  })
}

const binds = (root: string): ReadonlyArray<string> => [
  "--unshare-pid",
  ...["/usr", "/bin", "/lib", "/lib64", "/etc"].flatMap((path) => ["--ro-bind-try", path, path]),
  ...["/w", "/tmp"].flatMap((path) => ["--bind", root + path, path]),
  ...["--dev", "/dev", "--proc", "/proc", "--ro-bind", rgPath, "/programs/rg"]
]

const subprocess = (root: string) =>
  Effect.map(SubprocessLocal.make({ spillParent: join(root, "tmp") }), (local) => {
    const seen = ({ readFrom }: CollectedOutput): CollectedOutput => ({
      readFrom: (offset) =>
        Effect.map(readFrom(offset), ({ spillPath, ...read }) =>
          spillPath === undefined ? read : { ...read, spillPath: spillPath.slice(root.length) }
        )
    })
    const inside = ({ argv, cwd, env }: Pick<SpawnSpec, "argv" | "cwd" | "env">) => ({
      argv: ["bwrap", ...binds(root), "--chdir", cwd, "--", ...argv],
      cwd: "/",
      env: { ...env, PATH: "/programs:/usr/bin:/bin" }
    })
    const spawn: Subprocess["Type"]["spawn"] = (spec) =>
      Effect.map(local.spawn({ ...spec, ...inside(spec) }), (process) => ({
        ...process,
        collected: { stdout: seen(process.collected.stdout), stderr: seen(process.collected.stderr) }
      }))
    return Subprocess.of({
      spawn,
      openPty: (spec) => local.openPty({ ...spec, ...inside(spec) }),
      resolveExecutable: (command) =>
        Effect.gen(function* () {
          const output = { maxBytes: 4096 }
          const argv = ["sh", "-c", 'command -v -- "$1"', "sh", command]
          const process = yield* spawn({ argv, cwd: "/", stdin: "ignore", stdout: output, stderr: output })
          const { exitCode } = yield* process.exit
          const { bytes } = yield* process.collected.stdout.readFrom(0)
          if (exitCode === 0) return Buffer.from(bytes).toString().trim()
          return yield* new SubprocessError({ code: "SUBPROCESS_NOT_FOUND", message: `${command} is not there` })
        }).pipe(Effect.scoped)
    })
  })

/** `root`: an empty folder, canonical. Work in `/w`. */
export const layer = (root: string): Layer.Layer<Fs | Subprocess> => {
  for (const name of ["w", "tmp"]) mkdirSync(join(root, name))
  return Layer.merge(Layer.succeed(Fs, fs(root)), Layer.scoped(Subprocess, subprocess(root)))
}
