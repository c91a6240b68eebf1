/**
 * `dsh plugin list`: what was added to a profile, one line each.
 */
import type { Profile } from "@dsh/compose/ProfileFolder"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"

interface Extension {
  readonly name: string
  /** Unknown where it is not installed. */
  readonly version: string | undefined
  /** Its rows are part of the profile. Otherwise it is used where a row names it. */
  readonly isBundle: boolean
}

/** @param json One JSON object per line, for programs. */
export const run = ({ bundles, dependencies, folder }: Profile, json: boolean) =>
  Effect.gen(function* () {
    const output = yield* Output
    const all = dependencies.map((name) => ({
      name,
      version: versionOf(`${folder}/node_modules/${name}/package.json`),
      isBundle: bundles.includes(name)
    }))
    if (all.length > 0) yield* output.print(all.map(json ? (one) => JSON.stringify(one) : toText).join("\n"))
    return ExitCode.completed
  })

const versionOf = (file: string): string | undefined => {
  try {
    const { version }: { readonly version?: unknown } = JSON.parse(readFileSync(file, "utf8"))
    return typeof version === "string" ? version : undefined
  } catch {
    return undefined
  }
}

const toText = ({ isBundle, name, version = "not installed" }: Extension): string =>
  `${name}  ${version}  ${isBundle ? "part of the profile" : "used where a row names it"}`
