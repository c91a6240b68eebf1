// `pnpm catalog`: writes the generated pages of docs/catalog, the generated module, and the code of written pages from the files that
// are tested.
// `pnpm catalog --check` changes nothing and names what is stale. `--pages FOLDER`: the pages are there and not in this repository.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { bundle } from "./bundle.mjs"
import * as Packages from "./catalog/packages.mjs"
import * as Sources from "./catalog/sources.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const { check, pages } = parseArgs({
  options: { check: { type: "boolean", default: false }, pages: { type: "string", default: root } }
}).values
const readCode = (path) => readFileSync(join(root, path), "utf8")

const folder = "docs/catalog"
const pagesIn = (path) =>
  readdirSync(join(pages, path), { recursive: true })
    .map((name) => `${path}/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md"))
    .sort()

const main = await bundle({ input: join(root, "scripts/catalog/src/Main.ts"), out: join(root, "scripts/catalog/dist") })
const { generate, splice, stale, toolCards } = createRequire(import.meta.url)(main)

const at = (path) => join(path === toolCards ? root : pages, path)
const read = (path) => readFileSync(at(path), "utf8")

const generated = await generate({ ...Sources.read(), ...Packages.read() })
const written = ["README.md", ...pagesIn("docs")].filter((path) => !path.startsWith(`${folder}/`))
const wanted = { ...generated, ...Object.fromEntries(written.map((path) => [path, splice(read(path), readCode)])) }
const present = [toolCards, ...written, ...(existsSync(join(pages, folder)) ? pagesIn(folder) : [])]
const found = Object.fromEntries(present.map((path) => [path, read(path)]))

if (check) {
  const messages = stale(wanted, found)
  for (const message of messages) console.error(message)
  process.exitCode = messages.length === 0 ? 0 : 1
} else {
  for (const [path, text] of Object.entries(wanted)) {
    if (found[path] === text) continue
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
    console.log(path)
  }
}
