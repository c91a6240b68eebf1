// The packages as their manifests and the table of layers have them.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { packages, roles } from "../lint/layers.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const scope = "@dsh/"

/** What is there to take the place of a package of somebody else's has no row in the table. */
const roleOf = (area, name) => (area === "apps" ? "app" : (packages[name]?.role ?? "support"))

const packageOf = (area, folder) => {
  const path = join(root, area, folder, "package.json")
  if (!existsSync(path)) return []
  const { dependencies = {}, description, name } = JSON.parse(readFileSync(path, "utf8"))
  const dependsOn = Object.keys(dependencies).flatMap((other) =>
    other.startsWith(scope) ? other.slice(scope.length) : []
  )
  return [{ name: name.slice(scope.length), description, role: roleOf(area, folder), dependsOn: dependsOn.sort() }]
}

/** All of them, by name; and the layers, lowest first. */
export const read = () => ({
  roles: Object.keys(roles),
  packages: ["packages", "apps"].flatMap((area) =>
    readdirSync(join(root, area))
      .sort()
      .flatMap((folder) => packageOf(area, folder))
  )
})
