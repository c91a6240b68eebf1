// What the sources say of themselves, asked of the type checker: services and extension points, the Layers that provide and need
// them, the events that a log may hold, and the tools that are defined.
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { isCallExpression, isClassDeclaration, isPropertyAccessExpression } from "typescript/unstable/ast/is"
import { API, SignatureKind } from "typescript/unstable/sync"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** `packages/llm/src/Llm.ts` → `@dsh/llm/Llm`, which is also how it is imported. */
const specifierOf = (file) => file.replace(/^packages\/([^/]+)\/src\/(.+)\.ts$/, "@dsh/$1/$2")

/** `@dsh/llm/Llm` is exported; `@dsh/llm/LlmDeepSeek/Catalog` is a part of what is. */
const isPublic = (specifier) => specifier.split("/").length === 3

const oneLine = (text) => text.replace(/\s+/g, " ").trim()

const firstSentence = (doc) => oneLine(/^.*?[.!?](?=\s|$)/s.exec(doc)?.[0] ?? doc)

/** What the comment at the head of a module says. */
const headerOf = ({ node }) => {
  const trivia = node.text.slice(0, node.statements[0]?.getStart(node) ?? 0)
  return oneLine(/^\/\*\*(.*?)\*\//s.exec(trivia)?.[1].replace(/^\s*\* ?/gm, "") ?? "")
}

/** A page with a gap helps nobody: what is listed says what it is. */
const documented = (doc, what) => {
  if (doc === "") throw new Error(`${what} has no docstring; write one, for it is listed in docs/catalog`)
  return doc
}

/** Every node below `node`, itself included. */
const walk = (node, visit) => {
  visit(node)
  node.forEachChild((child) => {
    walk(child, visit)
  })
}

/** `extends Context.Tag("key")<…>()` and `extends Hook.Emit<…>()("key")`: what is called, and with which key. */
const heritageOf = (declaration) => {
  const base = declaration.heritageClauses?.[0]?.types[0]?.expression
  if (base === undefined || !isCallExpression(base) || !isCallExpression(base.expression)) return undefined
  const made = base.expression
  if (!isPropertyAccessExpression(made.expression)) return undefined
  const key = base.arguments[0] ?? made.arguments[0]
  return { of: `${made.expression.expression.text}.${made.expression.name.text}`, key: key?.text }
}

const kinds = {
  "Context.Tag": "service",
  "Context.Reference": "reference",
  "Hook.Emit": "emit",
  "Hook.Waterfall": "waterfall",
  "Hook.Serial": "serial",
  "Hook.Bail": "bail",
  "Hook.Parallel": "parallel"
}

const servicesOf = (checker, file) => {
  const found = []
  walk(file.node, (node) => {
    if (!isClassDeclaration(node) || node.name === undefined) return
    const heritage = heritageOf(node)
    // A Reference is called twice, and its key is an argument of the second call.
    const kind = heritage && kinds[heritage.of]
    if (kind === undefined || typeof heritage.key !== "string") return
    const symbol = checker.getSymbolAtLocation(node.name)
    // The header of a module is about what the module is named for.
    const isNamesake = file.module.endsWith(`/${node.name.text}`)
    const doc = isNamesake ? headerOf(file) : checker.getDocumentationCommentOfSymbol(symbol)
    found.push({
      id: symbol.id,
      name: node.name.text,
      kind,
      key: heritage.key,
      module: file.module,
      doc: documented(firstSentence(doc), `${node.name.text} in ${file.module}`)
    })
  })
  return found
}

const isLayer = (type) => type?.getSymbol?.()?.name === "Layer"

/** The Layer that an exported value is, or gives when it is called. */
const layerOf = (checker, symbol) => {
  const type = checker.getTypeOfSymbol(symbol)
  if (isLayer(type)) return type
  const [signature] = type === undefined ? [] : checker.getSignaturesOfType(type, SignatureKind.Call)
  const made = signature && checker.getReturnTypeOfSignature(signature)
  return isLayer(made) ? made : undefined
}

const membersOf = (type) => (type.isUnionType() ? type.getTypes() : [type])

const layersOf = (checker, file) => {
  const module = checker.getSymbolAtLocation(file.node)
  if (module === undefined || !isPublic(file.module)) return []
  return checker.getExportsOfModule(module).flatMap((symbol) => {
    if (!symbol.name.startsWith("layer")) return []
    const layer = layerOf(checker, symbol)
    if (layer === undefined) return []
    const [provides, , needs] = checker
      .getTypeArguments(layer)
      .map((type) => membersOf(type).flatMap((member) => member.getSymbol()?.id ?? []))
    return [{ module: file.module, name: symbol.name, provides, needs }]
  })
}

/** The properties of an event's data, with what their types say of them. */
const fieldsOf = (checker, type) =>
  Object.fromEntries(
    membersOf(type).flatMap((member) =>
      checker
        .getPropertiesOfType(member)
        .map((field) => [field.name, oneLine(checker.getDocumentationCommentOfSymbol(field))])
    )
  )

const eventsOf = (checker, files) => {
  const log = files.find(({ module }) => module === "@dsh/protocol/SessionEvent")
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(log.node))
  const declared = (wanted) => checker.getDeclaredTypeOfSymbol(exported.find(({ name }) => name === wanted))
  const events = checker.getPropertiesOfType(declared("SessionEvents")).map((event) => ({
    type: event.name,
    doc: documented(oneLine(checker.getDocumentationCommentOfSymbol(event)), `the event ${event.name}`),
    module: files.find(({ path }) => path === event.declarations[0].path).module,
    fields: fieldsOf(checker, checker.getTypeOfSymbol(event))
  }))
  return { events: events.sort(byOwner), envelope: fieldsOf(checker, membersOf(declared("SessionEvent"))[0]) }
}

/** The core events first, as they are declared; then those of extensions by owner. */
const byOwner = (a, b) => {
  const rank = ({ module }) => (module === "@dsh/protocol/SessionEvent" ? "" : module)
  return rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0
}

const valueOf = (literal, name) => literal.properties.find((property) => property.name?.text === name)?.initializer

/** Every `Tool.make({ … })`: its name, and whether it may always, never or sometimes run beside others. */
const toolsOf = (file) => {
  const found = []
  walk(file.node, (node) => {
    if (!isCallExpression(node) || node.arguments.length !== 1) return
    const { expression } = node
    if (
      !isPropertyAccessExpression(expression) ||
      expression.name.text !== "make" ||
      expression.expression.text !== "Tool"
    )
      return
    const [definition] = node.arguments
    const name = definition.properties && valueOf(definition, "name")?.text
    if (name === undefined) return
    const parallel = valueOf(definition, "parallelSafe")?.getText(file.node)
    found.push({
      name,
      module: file.module,
      parallel:
        parallel === undefined || parallel === "false" ? "no" : parallel === "true" ? "yes" : "depends on the arguments"
    })
  })
  return found
}

/** All of it, in the order of modules. */
export const read = () => {
  const api = new API({ cwd: root })
  try {
    const config = fileURLToPath(new URL("tsconfig.json", import.meta.url))
    const [{ checker, program }] = api.updateSnapshot({ openProjects: [config] }).getProjects()
    const files = program
      .getSourceFileNames()
      .map((name) => ({ name, file: relative(root, name) }))
      .filter(({ file }) => /^packages\/[^/]+\/src\//.test(file))
      .sort((a, b) => (a.file < b.file ? -1 : 1))
      .map(({ file, name }) => {
        const node = program.getSourceFile(name)
        return { node, path: node.path, file, module: specifierOf(file) }
      })
    const layers = files.flatMap((file) => layersOf(checker, file))
    const where = (id, side) =>
      layers.filter((layer) => layer[side].includes(id)).map(({ module, name }) => ({ module, name }))
    return {
      services: files
        .flatMap((file) => servicesOf(checker, file))
        .map(({ id, ...service }) => ({
          ...service,
          providedBy: where(id, "provides"),
          neededBy: where(id, "needs")
        })),
      ...eventsOf(checker, files),
      tools: files.flatMap(toolsOf)
    }
  } finally {
    api.close()
  }
}
