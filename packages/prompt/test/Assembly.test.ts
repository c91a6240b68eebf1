import * as Realm from "@dsh/kernel/Realm"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { UserMessage } from "@dsh/protocol/Message"
import type { Session } from "@dsh/session/Session"
import * as Tool from "@dsh/tools/Tool"
import { Tools } from "@dsh/tools/Tools"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Either, Schema } from "effect"
import * as Assembly from "../src/Assembly.ts"
import { PromptError, SystemPrompt } from "../src/SystemPrompt.ts"
import { assembled, base, contextOf, filled, newSession, rendered } from "./support.ts"
import type { PromptServices } from "./support.ts"

const tool = (name: string) =>
  Tool.make({
    name,
    description: `the ${name}`,
    parameters: Schema.Struct({}),
    output: Schema.Void,
    execute: () => Effect.void,
    render: () => ""
  })

layer(base)("Assembly.assemble", (it) => {
  it.scoped("resolves sections and contexts in order, for this session, provider and model", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      const session = yield* newSession
      yield* prompt.section({
        name: "computed",
        order: 1,
        text: (context) => Effect.succeed(`${context.model} of ${context.provider}, ${context.session === session}`)
      })
      yield* prompt.section({ name: "fixed", order: 0, text: "fixed" })
      yield* prompt.context({ name: "now", order: 0, text: () => Effect.succeed("noon") })
      const assembly = yield* Assembly.assemble(contextOf(session))
      assert.deepStrictEqual(assembly.sections, [
        { name: "fixed", text: "fixed" },
        { name: "computed", text: "m of p, true" }
      ])
      assert.deepStrictEqual(assembly.contexts, [{ name: "now", text: "noon" }])
    })
  )

  it.scoped("brings the tools of the realm, by name", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      yield* tools.register(tool("b"))
      yield* tools.register(tool("a"))
      const realm = Realm.fork(yield* Effect.context<PromptServices>())
      yield* Context.get(realm, Tools).restrict({ deny: ["b"] })
      yield* Context.get(realm, Tools).register(tool("c"))
      const names = Effect.map(assembled, (assembly) => assembly.tools.map(({ name }) => name).join(""))
      assert.strictEqual(yield* names, "ab")
      assert.strictEqual(yield* Effect.provide(names, realm), "ac")
    })
  )

  it.scoped("a complete section is the whole prompt, and none of the others is evaluated", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      yield* prompt.section({ name: "other", order: 0, text: () => Effect.die("evaluated") })
      yield* prompt.section({ name: "all", order: 5, text: "everything", complete: true })
      yield* prompt.context({ name: "now", order: 0, text: "noon" })
      assert.strictEqual(yield* rendered, "everything")
      assert.deepStrictEqual((yield* assembled).contexts, [{ name: "now", text: "noon" }])
    })
  )

  it.scoped("two complete sections are an error that names them; a shadowed one does not count", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      yield* prompt.section({ name: "one", order: 0, text: "1", complete: true })
      const realm = Realm.fork(yield* Effect.context<PromptServices>())
      yield* Context.get(realm, SystemPrompt).section({ name: "one", order: 0, text: "other", complete: true })
      assert.strictEqual(yield* Effect.provide(rendered, realm), "other")
      yield* prompt.section({ name: "two", order: 1, text: "2", complete: true })
      const error = yield* Effect.flip(rendered)
      assert.strictEqual(error.code, "TWO_COMPLETE_SECTIONS")
      assert.strictEqual(error.message, "the sections one and two both claim to be the whole prompt; keep one")
    })
  )

  it.scoped("a section that fails fails the assembly", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      const failure = new PromptError({ code: "SECTION_FAILED", message: "no file" })
      yield* prompt.section({ name: "reads", order: 0, text: () => failure })
      const { code, message } = yield* Effect.flip(assembled)
      assert.deepStrictEqual({ code, message }, { code: "SECTION_FAILED", message: "no file" })
    })
  )

  it.scoped("the hooks have the last word", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      const point = yield* Assembly.AssemblePrompt
      yield* prompt.section({ name: "a", order: 0, text: "a" })
      yield* point.use("adds", ({ assembly, context }, next) => {
        const sections = [...assembly.sections, { name: "hook", text: `by ${context.model}` }]
        return next({ context, assembly: { ...assembly, sections } })
      })
      assert.strictEqual(yield* rendered, "a\n\nby m")
      yield* point.use("replaces", ({ assembly }) => Effect.succeed({ ...assembly, sections: [] }), { order: -1 })
      assert.strictEqual(yield* rendered, "")
    })
  )

  it.scoped("an assembly is a picture of its moment", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      yield* prompt.section({ name: "a", order: 0, text: "{{v}}" })
      yield* prompt.variable("v", () => "before")
      const before = yield* assembled
      yield* prompt.section({ name: "b", order: 0, text: "b" })
      yield* prompt.variable("w", () => "x")
      assert.strictEqual(Either.getOrThrow(Assembly.render(before)), "before")
      assert.strictEqual(before.variables.size, 1)
    })
  )

  it.scoped("a variable without a value is unknown", () =>
    Effect.gen(function* () {
      const prompt = yield* SystemPrompt
      yield* prompt.section({ name: "a", order: 0, text: "in {{cwd}}" })
      yield* prompt.variable("cwd", ({ session }) => session.header.cwd)
      yield* prompt.variable("model", ({ model }) => model)
      const error = yield* Effect.flip(rendered)
      assert.strictEqual(error.code, "UNKNOWN_VARIABLE")
      assert.strictEqual(error.message, 'the prompt section "a" refers to {{cwd}}; known variables: model')
    })
  )
})

describe("Assembly.render", () => {
  const render = (...texts: ReadonlyArray<string>) =>
    Assembly.render({
      sections: texts.map((text, i) => ({ name: `s${i}`, text })),
      contexts: [{ name: "never part of it", text: "x" }],
      variables: new Map([["empty", ""]]),
      tools: []
    })

  it("joins sections by a blank line and drops empty ones", () => {
    assert.deepStrictEqual(render("a", "", "b\n", "c"), Either.right("a\n\nb\n\n\nc"))
    assert.deepStrictEqual(render("a", "{{empty}}", "b"), Either.right("a\n\nb"))
    assert.deepStrictEqual(render(), Either.right(""))
    assert.deepStrictEqual(render(""), Either.right(""))
  })

  it("fills in variables, as often as they are named", () => {
    const variables = [
      ["a", "1"],
      ["b_2", "two"]
    ] as const
    assert.deepStrictEqual(filled("{{a}} and {{b_2}}{{a}}", variables), Either.right("1 and two1"))
  })

  it("never looks at what it filled in", () => {
    const variables = [
      ["a", "{{b}} $& $1 {{"],
      ["b", "no"]
    ] as const
    assert.deepStrictEqual(filled("{{a}}}}", variables), Either.right("{{b}} $& $1 {{}}"))
  })

  it("leaves braces alone that refer to nothing", () => {
    for (const text of ["{{", "a {{ b", "}} {{", "{a}", "}}", "{ {a} }", "{{a}"]) {
      assert.deepStrictEqual(filled(text, [["a", "1"]]), Either.right(text))
    }
    assert.deepStrictEqual(filled("{{a}} {{", [["a", "1"]]), Either.right("1 {{"))
  })

  it("refuses a reference that is unknown or malformed, naming the section", () => {
    const refused = (reference: string) =>
      Either.left(`UNKNOWN_VARIABLE: the prompt section "s" refers to {{${reference}}}; known variables: a`)
    for (const reference of ["b", " a ", "a ", "A", "", "constructor", "__proto__", "a.b", "\na", "a{{a"]) {
      assert.deepStrictEqual(filled(`x {{${reference}}}`, [["a", "1"]]), refused(reference))
    }
    assert.deepStrictEqual(
      filled("{{a}}"),
      Either.left('UNKNOWN_VARIABLE: the prompt section "s" refers to {{a}}; known variables: none')
    )
  })
})

layer(base)("Assembly.contextUpdate", (it) => {
  const noon = { name: "time", text: "noon" }
  const one = { name: "time", text: "one" }
  const branch = { name: "git", text: "main" }
  const update = (session: Session, ...contexts: ReadonlyArray<{ readonly name: string; readonly text: string }>) =>
    Assembly.contextUpdate(session, contexts, MessageId(`m${session.length}`))
  const textOf = (message: UserMessage | undefined) =>
    message?.content.map((block) => "text" in block && block.text).join("")

  /** Tells the session what it does not know yet; the text that was told, if any. */
  const tell = Effect.fnUntraced(function* (session: Session, ...contexts: Parameters<typeof update>[1][]) {
    const message = update(session, ...contexts)
    if (message !== undefined) yield* session.append("user/message", message)
    return textOf(message)
  })
  const heading = "Current context. It replaces every earlier one."
  const gone = "The context given earlier no longer applies."

  it.scoped("tells all contexts in one message that says it replaces earlier ones", () =>
    Effect.gen(function* () {
      const message = update(yield* newSession, noon, { name: "empty", text: "" }, branch)
      assert.deepStrictEqual(
        message,
        Message.fromPlugin(MessageId("m0"), `${heading}\n\nnoon\n\nmain`, {
          plugin: "@dsh/prompt",
          form: "snapshot",
          sections: [noon, branch]
        })
      )
    })
  )

  it.scoped("tells them again only when something changed", () =>
    Effect.gen(function* () {
      const session = yield* newSession
      assert.strictEqual(yield* tell(session, noon, branch), `${heading}\n\nnoon\n\nmain`)
      assert.isUndefined(yield* tell(session, noon, branch))
      yield* session.append("user/message", Message.user(MessageId("u"), "hello"))
      assert.isUndefined(yield* tell(session, noon, branch))
      assert.strictEqual(yield* tell(session, one, branch), `${heading}\n\none\n\nmain`)
      assert.strictEqual(yield* tell(session, branch, one), `${heading}\n\nmain\n\none`)
      assert.strictEqual(yield* tell(session, branch), `${heading}\n\nmain`)
      assert.strictEqual(yield* tell(session, { ...branch, name: "vcs" }), `${heading}\n\nmain`)
    })
  )

  it.scoped("offers again what was never logged", () =>
    Effect.gen(function* () {
      const session = yield* newSession
      assert.isDefined(update(session, noon))
      assert.isDefined(update(session, noon))
    })
  )

  it.scoped("says once that nothing applies any more, and nothing when nothing ever did", () =>
    Effect.gen(function* () {
      const session = yield* newSession
      assert.isUndefined(yield* tell(session))
      assert.isUndefined(yield* tell(session, { name: "empty", text: "" }))
      yield* tell(session, noon)
      assert.strictEqual(yield* tell(session), gone)
      assert.isUndefined(yield* tell(session))
      assert.strictEqual(yield* tell(session, noon), `${heading}\n\nnoon`)
    })
  )

  it.scoped("tells again what the model can no longer see", () =>
    Effect.gen(function* () {
      const session = yield* newSession
      yield* tell(session, noon)
      assert.isUndefined(yield* tell(session, noon))
      yield* session.append("user/message", Message.user(MessageId("s"), "summary"), {
        surfaceOp: { op: "replace", start: 0, end: 0 },
        sourceEventSeqs: [0]
      })
      assert.strictEqual(yield* tell(session, noon), `${heading}\n\nnoon`)
      assert.isUndefined(yield* tell(session, noon))
    })
  )

  it.scoped("compares with the last snapshot that is left when a later one was replaced", () =>
    Effect.gen(function* () {
      const session = yield* newSession
      yield* tell(session, noon)
      yield* tell(session, one)
      assert.isUndefined(yield* tell(session, one))
      yield* session.append("user/message", Message.user(MessageId("s"), "summary"), {
        surfaceOp: { op: "replace", start: 1, end: 1 },
        sourceEventSeqs: [1]
      })
      assert.isUndefined(yield* tell(session, noon))
      assert.strictEqual(yield* tell(session, one), `${heading}\n\none`)
    })
  )

  it.scoped("says nothing of a cleared context that the model can no longer see either", () =>
    Effect.gen(function* () {
      const session = yield* newSession
      yield* tell(session, noon)
      assert.isUndefined(yield* tell(session, noon))
      yield* session.append("user/message", Message.user(MessageId("s"), "summary"), {
        surfaceOp: { op: "replace", start: 0, end: 0 },
        sourceEventSeqs: [0]
      })
      assert.isUndefined(yield* tell(session))
    })
  )

  it.scoped("is not confused by the messages of others, nor by another session", () =>
    Effect.gen(function* () {
      const session = yield* newSession
      const foreign = Message.fromPlugin(MessageId("f"), "x", { plugin: "other", form: "snapshot", sections: [noon] })
      yield* session.append("user/message", foreign)
      const notice = Message.fromPlugin(MessageId("n"), "x", {
        plugin: "@dsh/prompt",
        form: "notice",
        sections: [noon]
      })
      yield* session.append("user/message", notice)
      assert.isDefined(yield* tell(session, noon))
      assert.isDefined(update(yield* newSession, noon))
    })
  )
})
