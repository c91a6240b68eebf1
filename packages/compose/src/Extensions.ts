/**
 * Plugins that are installed for a profile, beside those that are in the box.
 */
import * as Plugin from "@dsh/kernel/Plugin"
import * as Thrown from "@dsh/kernel/Thrown"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Catalogue, Missing } from "./Catalogue.ts"

export interface Options {
  readonly inBox: Catalogue
  readonly profile: string
  /** That of the profile, absolute. */
  readonly folder: string
  /** Where the modules are that extensions share with the command, for messages. */
  readonly host: string
  /** Loads a module by its name, as installed under `folder`. */
  readonly load: (name: string, folder: string) => Promise<Readonly<Record<string, unknown>>>
}

/** Packages of which there may only be one copy in a process: their tags and classes are compared by identity. */
const single = ["effect", "@effect/platform", "@dsh/kernel", "@dsh/tools", "@dsh/prompt", "@dsh/agent", "@dsh/session"]

interface Copy {
  readonly name: string
  readonly path: string
}

const Manifest = Schema.parseJson(
  Schema.Struct({ dependencies: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })) })
)

/** `@scope/name/module` is a module of `@scope/name`. */
export const packageOf = (name: string): string =>
  name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/")

/** The catalogue of a profile. What is in the box comes first. */
export const catalogue = ({
  folder,
  host,
  inBox,
  load,
  profile
}: Options): Effect.Effect<Catalogue, never, FileSystem.FileSystem> =>
  Effect.map(FileSystem.FileSystem, (fs) => {
    const exists = (path: string) => Effect.orElseSucceed(fs.exists(path), () => false)

    /** A copy of its own that the extension, or something beside it, brings along. */
    const copyIn = (installed: string): Effect.Effect<Copy | undefined> =>
      Effect.gen(function* () {
        const place = yield* Effect.orElseSucceed(fs.realPath(installed), () => installed)
        // A folder somebody works in has what its types and tests need; what counts is what it says it depends on.
        const isLinked = !place.startsWith(`${folder}/`)
        const declared = yield* dependenciesOf(place)
        for (const name of single) {
          if (isLinked) {
            if (declared.includes(name)) return { name, path: `${place}/package.json` }
            continue
          }
          for (const path of [`${place}/node_modules/${name}`, `${folder}/node_modules/${name}`]) {
            if (yield* exists(`${path}/package.json`)) return { name, path }
          }
        }
        return undefined
      })

    const dependenciesOf = (place: string): Effect.Effect<ReadonlyArray<string>> =>
      Effect.match(fs.readFileString(`${place}/package.json`), {
        onFailure: () => [],
        onSuccess: (text) =>
          Either.match(Schema.decodeUnknownEither(Manifest)(text), {
            onLeft: () => [],
            onRight: ({ dependencies = {} }) => Object.keys(dependencies)
          })
      })

    const find = (name: string, unknown: Missing): Effect.Effect<Plugin.Plugin, Missing> =>
      Effect.gen(function* () {
        const own = packageOf(name)
        const installed = `${folder}/node_modules/${own}`
        if (!(yield* exists(installed))) return yield* Effect.fail(unknown)
        const copy = yield* copyIn(installed)
        if (copy !== undefined) {
          return yield* Effect.fail<Missing>({
            code: "SECOND_COPY",
            reason: `brings a copy of ${copy.name} along, ${copy.path}, and the command has its own in ${host}`,
            remedy: `make it a peerDependency of ${own}, or remove the copy: services of one are unknown to the other`
          })
        }
        const module = yield* Effect.tryPromise({
          try: () => load(name, folder),
          catch: (cause): Missing => ({
            code: "PLUGIN_NOT_LOADED",
            reason: `could not be loaded: ${Thrown.messageOf(cause) ?? String(cause)}`,
            remedy: `correct ${own}, or remove it with "dsh plugin --profile ${profile} remove ${own}"`
          })
        })
        const plugin = module["default"] ?? module["plugin"]
        if (Plugin.isPlugin(plugin)) return plugin
        return yield* Effect.fail<Missing>({
          code: "NOT_A_PLUGIN",
          reason: `is a module without a plugin (it exports ${Object.keys(module).join(", ") || "nothing"})`,
          remedy: "export default Plugin.make({ name, layer }), with Plugin from @dsh/kernel/Plugin"
        })
      })

    return {
      names: inBox.names,
      find: (name) =>
        Effect.catchAll(inBox.find(name), (missing) =>
          missing.code === "UNKNOWN_PLUGIN" ? find(name, missing) : Effect.fail(missing)
        )
    }
  })
