// An oxlint plugin with one rule, `dsh/boundaries`: who may import whom. The table is `layers.mjs`.
import { isBuiltin } from "node:module"
import { posix } from "node:path"
import { computing, forbiddenInside, packages, roleOf, roles } from "./layers.mjs"

/** `…/packages/llm/src/LlmDeepSeek/Wire.ts` → where that is in the house; undefined outside packages and apps. */
const locate = (path) => {
  const match = /^.*(?:^|\/)(packages|apps)\/([^/]+)\/([^/]+)\/(.+)$/.exec(path)
  if (match === null) return undefined
  const [, area, name, folder, rest] = match
  const [first, ...inner] = rest.replace(/\.[cm]?[jt]sx?$/, "").split("/")
  return { area, name, folder, module: first, inner: inner.length > 0 }
}

const roleAt = (place) => (place.area === "apps" ? "app" : roleOf(place.name, place.module))

/** What an import specifier points at, seen from the file that holds it. */
const target = (specifier, filename) => {
  if (specifier.startsWith(".")) {
    const place = locate(posix.join(posix.dirname(filename), specifier))
    return place === undefined ? undefined : { kind: "ours", relative: true, ...place }
  }
  const ours = /^@dsh\/([^/]+)(?:\/([^/]+))?(\/.+)?$/.exec(specifier)
  if (ours !== null) {
    const [, name, module, inner] = ours
    return { kind: "ours", relative: false, area: "packages", name, module, inner: inner !== undefined }
  }
  if (isBuiltin(specifier) || /^@effect\/platform-(node|bun|browser)/.test(specifier)) return { kind: "platform" }
  return {
    kind: "library",
    name: /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)[0],
    barrel: /^(effect|@effect\/[^/]+)$/.test(specifier)
  }
}

const list = (names) => (names.length === 0 ? "nothing of ours" : names.join(", "))

const checkOurs = (from, role, to, specifier) => {
  if (to.area === "apps") return to.name === from.name ? undefined : `Nothing imports an app ("${specifier}").`
  if (to.name === from.name && from.area === "packages") {
    const toRole = roleAt(to)
    return forbiddenInside[role]?.includes(toRole)
      ? `${from.module} is a definition and must not import ${to.module}, a ${toRole}: turn the import around, or list ` +
          `${from.module} as a ${toRole} in scripts/lint/layers.mjs.`
      : undefined
  }
  if (to.relative) return `Import another package by its name: "@dsh/${to.name}/${to.module}".`
  if (to.inner) return `"${specifier}" is a private part of @dsh/${to.name}/${to.module}; import that module instead.`
  const toRole = roleAt(to)
  if (toRole === undefined) return `Package "${to.name}" has no row in scripts/lint/layers.mjs.`
  if (roles[role].imports.includes(toRole)) return undefined
  return (
    `A ${role} module must not import "${specifier}", which is ${toRole}; it may import ${list(roles[role].imports)}. ` +
    `Depend on the definition and let an app or a bundle provide the rest.`
  )
}

const check = (from, role, specifier, filename) => {
  const to = target(specifier, filename)
  if (to === undefined) return undefined
  if (to.kind === "ours") return checkOurs(from, role, to, specifier)
  const { only, platform } = roles[role]
  if (to.kind === "platform") {
    return platform === true || (only === undefined && computing.includes(specifier))
      ? undefined
      : `A ${role} module must not import "${specifier}": only providers, bundles, apps and tests reach outside ` +
          `the process. Take a service instead (@dsh/world, @effect/platform).`
  }
  if (to.barrel) return `Import the module, not the barrel: "${specifier}/…" (the barrel costs start-up time).`
  if (only !== undefined && !only.includes(to.name)) {
    return `A ${role} module imports nothing but ${only.join(", ")}, not "${specifier}".`
  }
  return undefined
}

const boundaries = {
  meta: { type: "problem", docs: { description: "Modules import only what their layer may see." } },
  create(context) {
    const filename = context.filename.replaceAll("\\", "/")
    const from = locate(filename)
    if (from === undefined || from.folder !== "src") return {}
    const role = roleAt(from)
    const visit = (source) => {
      if (typeof source?.value !== "string") return
      const message = check(from, role, source.value, filename)
      if (message !== undefined) context.report({ node: source, message })
    }
    if (role === undefined) {
      return {
        Program(node) {
          const known = Object.keys(packages).join(", ")
          context.report({ node, message: `Package "${from.name}" has no row in scripts/lint/layers.mjs (${known}).` })
        }
      }
    }
    return {
      ImportDeclaration: (node) => visit(node.source),
      ExportAllDeclaration: (node) => visit(node.source),
      ExportNamedDeclaration: (node) => visit(node.source),
      ImportExpression: (node) => visit(node.source),
      TSImportType: (node) => visit(node.source)
    }
  }
}

export default { meta: { name: "dsh" }, rules: { boundaries } }
