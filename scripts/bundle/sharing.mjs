// A rolldown plugin: all modules that extensions share with the command, in the place of a module that has none of them.
//
// An extension is loaded beside the command, and its `effect` has to be the command's own: tags, fibers and layers of another
// copy are other ones. So everything that an extension may import is in this bundle, whole, and given out from it.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** What `import` finds in a package of somebody else's: `effect`, `effect/Effect`, … */
const published = (name) => {
  const manifest = createRequire(join(root, "packages/compose/package.json")).resolve(`${name}/package.json`)
  const paths = Object.keys(JSON.parse(readFileSync(manifest, "utf8")).exports)
  return paths.flatMap((path) => {
    if (path === "." || /^\.\/[A-Z]\w*$/.test(path)) return [name + path.slice(1)]
    return []
  })
}

/** Not for extensions: they bring the test runner along, or are no modules of an API. */
const kept = new Set(["testing", "bundles", "loop", "llm-pi-ai", "llm-effect-ai", "persistence-sqlite"])

/** Our own definitions and providers. */
const own = () =>
  readdirSync(join(root, "packages")).flatMap((folder) => {
    const source = join(root, "packages", folder, "src")
    if (kept.has(folder) || !existsSync(source)) return []
    return readdirSync(source)
      .filter((file) => file.endsWith(".ts") && !file.endsWith("Contract.ts"))
      .map((file) => `@dsh/${folder}/${basename(file, ".ts")}`)
  })

/** The names that can be imported. */
const shared = () => [...published("effect"), ...published("@effect/platform"), ...own()]

const id = "\0shared"

/** @param holder Absolute path of the module that exports `modules`. */
export const sharing = (holder) => ({
  name: "sharing",
  async resolveId(source, importer) {
    if (importer === undefined) return undefined
    if (importer !== id) return resolve(dirname(importer), source) === holder ? { id } : undefined
    const [, folder, module] = /^@dsh\/([^/]+)\/(.+)$/.exec(source) ?? []
    if (folder !== undefined) return { id: join(root, "packages", folder, "src", `${module}.ts`) }
    return this.resolve(source, join(root, "packages/compose/src/Compose.ts"), { skipSelf: true })
  },
  load: (source) => {
    if (source !== id) return undefined
    const names = shared()
    return [
      ...names.map((name, i) => `import * as m${i} from ${JSON.stringify(name)}`),
      `export const modules = { ${names.map((name, i) => `${JSON.stringify(name)}: m${i}`).join(", ")} }`
    ].join("\n")
  }
})
