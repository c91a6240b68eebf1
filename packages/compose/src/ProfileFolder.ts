/**
 * A profile as a folder: its bundles in `package.json`, what is installed for it in `node_modules`, and what the user changed in
 * `dsh.patch.yml`.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { CompositionError, Problem } from "./CompositionError.ts"
import * as Composing from "./CompositionError.ts"
import { fileName as patchFile } from "./PatchFile.ts"

/** `live`: the patches are watched. `startup`: they are read once. */
export type PatchReload = "live" | "startup"

export interface Profile {
  readonly name: string
  /** Absolute. */
  readonly folder: string
  readonly bundles: ReadonlyArray<string>
  readonly patchReload: PatchReload
  /** Names of what was added. */
  readonly dependencies: ReadonlyArray<string>
}

export const manifestFile = "package.json"

const Manifest = Schema.Struct({
  dependencies: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  dsh: Schema.Struct({
    profile: Schema.Struct({
      bundles: Schema.Array(Schema.NonEmptyString),
      patchReload: Schema.optional(Schema.Literal("live", "startup"))
    })
  })
})

/** Whether a folder can have that name. */
export const isName = (name: string): boolean =>
  name.trim() !== "" && !/[\\/]/.test(name) && name !== "." && name !== ".." && name !== "node_modules"

const problem = (place: string, reason: string, remedy: string): Problem => ({
  code: "INVALID_PROFILE",
  place: { source: place },
  reason,
  remedy
})

/** Fails with `INVALID_PROFILE`. */
export const checkName = (name: string): Effect.Effect<void, CompositionError> =>
  isName(name)
    ? Effect.void
    : Composing.of(
        problem("--profile", `"${name}" cannot name a profile`, "use a word without slashes, such as headless")
      )

/** The profile of that folder; nothing when it has no manifest. */
export const read = (
  name: string,
  folder: string
): Effect.Effect<Profile | undefined, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${folder}/${manifestFile}`
    const isThere = yield* Effect.orElseSucceed(fs.exists(file), () => false)
    if (!isThere) return undefined
    const refuse = (reason: string) =>
      Composing.of(problem(file, reason, `correct it, or remove ${folder} to start over`))
    const text = yield* Effect.mapError(fs.readFileString(file), ({ message }) => refuse(`cannot be read: ${message}`))
    const parsed = Either.try(() => JSON.parse(text) as unknown)
    if (Either.isLeft(parsed)) return yield* refuse(`is no JSON: ${String(parsed.left)}`)
    const manifest = Schema.decodeUnknownEither(Manifest)(parsed.right)
    if (Either.isLeft(manifest)) {
      const [issue] = ParseResult.ArrayFormatter.formatErrorSync(manifest.left)
      return yield* refuse(`${issue?.path.join(".") ?? "it"} does not fit: ${issue?.message ?? "it is no profile"}`)
    }
    const { dependencies = {}, dsh } = manifest.right
    const { bundles, patchReload = "live" } = dsh.profile
    return { name, folder, bundles, patchReload, dependencies: Object.keys(dependencies) }
  })

const patchText = `# Changes of this profile: a list of entries. See docs/composition.md.
#
#   - id: bash            # a row there is: these keys of it are replaced
#     disabled: true
#   - insert:             # rows of your own
#       - id: mine
#         name: my-plugin
[]
`

/** Peers come from the command itself: a copy of them would be another one. */
const workspaceText = `packages: ["."]
nodeLinker: hoisted
autoInstallPeers: false
`

/** Makes the folder of a profile, if there is none. What is there is left alone. */
export const initialise = (
  profile: Pick<Profile, "bundles" | "folder" | "name" | "patchReload">
): Effect.Effect<boolean, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { bundles, folder, name, patchReload } = profile
    if (yield* fs.exists(`${folder}/${manifestFile}`)) return false
    const manifest = {
      name: `dsh-profile-${name}`,
      private: true,
      dependencies: {},
      dsh: { profile: { bundles, patchReload } }
    }
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
    const files = [
      [patchFile, patchText],
      ["pnpm-workspace.yaml", workspaceText],
      // Last, for it is what makes the folder a profile.
      [manifestFile, `${JSON.stringify(manifest, null, 2)}\n`]
    ] as const
    for (const [file, content] of files) {
      if (!(yield* fs.exists(`${folder}/${file}`))) yield* fs.writeFileString(`${folder}/${file}`, content)
    }
    return true
  }).pipe(
    Effect.catchTags({
      BadArgument: (cause) => unwritable(profile.folder, cause),
      SystemError: (cause) => unwritable(profile.folder, cause)
    })
  )

const unwritable = (folder: string, cause: { readonly message: string }) =>
  Composing.of(problem(folder, `the profile cannot be made: ${cause.message}`, "make the folder writable"), cause)

/** Replaces the bundles in the manifest, and nothing else of it. */
export const setBundles = (
  folder: string,
  bundles: ReadonlyArray<string>
): Effect.Effect<void, CompositionError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${folder}/${manifestFile}`
    const manifest = JSON.parse(yield* fs.readFileString(file)) as { dsh: { profile: object } }
    const next = { ...manifest, dsh: { ...manifest.dsh, profile: { ...manifest.dsh.profile, bundles } } }
    yield* fs.writeFileString(`${file}.tmp`, `${JSON.stringify(next, null, 2)}\n`)
    yield* fs.rename(`${file}.tmp`, file)
  }).pipe(Effect.mapError((cause) => unwritable(folder, cause)))
