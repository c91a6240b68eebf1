/**
 * `dsh plugin --profile NAME add|remove …`: extensions of a profile, installed by the package manager there is. A list needs none.
 */
import { bundles, templates } from "@dsh/bundles/Bundles"
import * as ExtensionBundle from "@dsh/compose/ExtensionBundle"
import * as ProfileFolder from "@dsh/compose/ProfileFolder"
import type { Profile } from "@dsh/compose/ProfileFolder"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join, resolve } from "node:path"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as ProfileOf from "../Profile.ts"
import type { Request } from "../Request.ts"

type Plugin = Extract<Request, { readonly _tag: "Plugin" }>

/** A profile that is made here works as `headless` does, until it says otherwise. */
const fresh = { bundles: ["base", "headless"], patchReload: "live" } as const

const managers = ["pnpm", "npm"] as const

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const manager = (): (typeof managers)[number] | undefined => {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  return managers.find((name) => folders.some((folder) => folder !== "" && isExecutable(join(folder, name))))
}

/** Peers come from the command itself; whoever installs them makes copies. */
const quietly = { npm: ["--legacy-peer-deps", "--no-audit", "--no-fund"], pnpm: [] } as const

/** Relative to where the user is, not to the folder of the profile. */
const anchored = (arg: string): string => {
  const [, kind = "", path] = /^((?:file|link|portal):)?(.*)$/s.exec(arg) ?? []
  if (path === undefined) return arg
  const isPath = kind !== "" || /^\.{1,2}(?:$|[\\/])/.test(path) || /^[^@].*\.tgz$/.test(path)
  return isPath && !/^[a-z]+:\/\//.test(path) ? `${kind}${resolve(path)}` : arg
}

const isGit = (arg: string): boolean => /^(?:git[+@:]|github:|gitlab:|bitbucket:)|\.git(?:#|$)/.test(arg)

/** Whatever it prints goes to stderr: stdout is for results. */
const runManager = (name: (typeof managers)[number], args: ReadonlyArray<string>, cwd: string) =>
  Effect.async<number>((resume) => {
    const child = spawn(name, [...args], { cwd, stdio: ["inherit", 2, 2] })
    child.once("error", () => resume(Effect.succeed(127)))
    child.once("exit", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.sync(() => child.kill("SIGTERM"))
  })

/** The bundles of a profile after its dependencies have changed: those that are gone go, those that are new come last. */
const reconcile = (before: Profile, after: Profile) =>
  Effect.gen(function* () {
    const output = yield* Output
    const has = (name: string) => Effect.map(ExtensionBundle.patchOf(after.folder, name), Option.isSome)
    const kept = yield* Effect.filter(before.bundles, (name) =>
      Object.hasOwn(bundles, name)
        ? Effect.succeed(true)
        : after.dependencies.includes(name)
          ? has(name)
          : Effect.succeed(false)
    )
    const added: Array<string> = []
    for (const name of after.dependencies) {
      if (kept.includes(name)) continue
      if (yield* has(name)) added.push(name)
      else if (!before.dependencies.includes(name)) {
        output.notice(
          `${name} brings no rows (dsh.bundle.patch); name it in a row of ${after.folder}/dsh.patch.yml to use it`
        )
      }
    }
    const next = [...kept, ...added]
    if (next.join("\n") !== after.bundles.join("\n")) yield* ProfileFolder.setBundles(after.folder, next)
    for (const name of added) output.notice(`${name} is part of the profile ${after.name} now`)
    for (const name of before.bundles.filter((name) => !next.includes(name))) {
      output.notice(`${name} is no part of the profile ${after.name} any more`)
    }
  })

export const run = ({ args, profile: name = "headless" }: Plugin): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    yield* ProfileFolder.checkName(name)
    const [wanted] = args
    if (wanted === "list" || wanted === "ls") {
      const { run } = yield* Effect.promise(() => import("./PluginList.ts"))
      return yield* run(yield* ProfileOf.load(name), args.includes("--json"))
    }
    const folder = yield* ProfileOf.folderOf(name)
    const template = (Object.hasOwn(templates, name) ? templates[name] : undefined) ?? fresh
    const made = yield* ProfileFolder.initialise({ name, folder, ...template })
    if (made) output.notice(`made the profile ${name} in ${folder}`)
    const tool = manager()
    if (tool === undefined) {
      output.failure({
        code: "NO_PACKAGE_MANAGER",
        message: `neither ${managers.join(" nor ")} is on the PATH; install one`
      })
      return 127
    }
    const before = yield* ProfileOf.load(name)
    const given = args.map(anchored)
    const [verb, ...rest] = given
    const code = yield* runManager(
      tool,
      [verb === "add" && tool === "npm" ? "install" : verb!, ...rest, ...quietly[tool]],
      folder
    )
    if (code !== 0) {
      if (args.some(isGit)) output.notice("a package from git may have to be allowed to run its build scripts first")
      return code
    }
    yield* reconcile(before, yield* ProfileOf.load(name))
    return ExitCode.completed
  }).pipe(
    Effect.catchTag("CompositionError", ({ code, message }) => Failure.configuration(code, message)),
    Effect.provide(NodeFileSystem.layer)
  )
