// What every package.json of ours must say. Sherif covers ordering and version mismatches; this covers the rest.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
const main = read(".")

const folders = ["packages", "apps"]
  .flatMap((area) => readdirSync(join(root, area)).map((name) => `${area}/${name}`))
  .concat("scratchpad", "scripts/catalog")
  .filter((folder) => existsSync(join(root, folder, "package.json")))

/** Packages that take the place of somebody else's, or bring it along: one module, in JavaScript, that is never bundled. */
const standIns = ["bash-grammar", "extension-host", "image-codec", "presets", "quickjs-thread", "sqlite-driver"]

const exportsOfAPackage = { "./*": { types: "./src/*.ts", default: "./src/*.ts" } }
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/** Third-party versions live in the catalog only, so each is written once. */
const looseVersions = (manifest) =>
  ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"].flatMap((kind) =>
    Object.entries(manifest[kind] ?? {})
      .filter(([name, range]) => range !== (name.startsWith("@dsh/") ? "workspace:*" : "catalog:"))
      .map(
        ([name, range]) =>
          `${kind}.${name} is "${range}"; write "${name.startsWith("@dsh/") ? "workspace:*" : "catalog:"}"`
      )
  )

const problems = (folder, manifest) => {
  const [area, name] = folder.split("/")
  const expect = (ok, message) => (ok ? [] : [message])
  return [
    ...expect(manifest.name === `@dsh/${name ?? area}`, `name must be "@dsh/${name ?? area}"`),
    ...expect(manifest.private === true, `private must be true`),
    ...expect(manifest.version === main.version, `version must be the root's, ${main.version}`),
    ...expect(manifest.license === main.license, `license must be the root's, ${main.license}`),
    ...expect(manifest.type === "module", `type must be "module"`),
    ...expect(same(manifest.engines, main.engines), `engines must be the root's, ${JSON.stringify(main.engines)}`),
    ...expect(typeof manifest.description === "string", `description is missing`),
    ...expect(
      area !== "packages" || standIns.includes(name) || same(manifest.exports, exportsOfAPackage),
      `exports must be ${JSON.stringify(exportsOfAPackage)}`
    ),
    ...looseVersions(manifest)
  ]
}

const found = [
  ...looseVersions(main).map((problem) => `package.json: ${problem}`),
  ...folders.flatMap((folder) => problems(folder, read(folder)).map((problem) => `${folder}/package.json: ${problem}`))
]
for (const line of found) console.error(line)
process.exitCode = found.length === 0 ? 0 : 1
