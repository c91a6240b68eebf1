// Rewinding a session whose agent worked with the real tools: trees are byte for byte what they were, and nothing else is touched.
import type { Agent } from "@dsh/agent/Agent"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { neutral } from "@dsh/protocol/NeutralRequest"
import { newHash } from "@dsh/llm/RequestDigest"
import { textOf } from "@dsh/protocol/Block"
import { verify } from "@dsh/protocol/Verify"
import * as RewindLocal from "@dsh/rewind/RewindLocal"
import type { Sessions, SessionRead } from "@dsh/session/Sessions"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import * as Composed from "./support/Composed.ts"
import * as Tree from "./support/Tree.ts"

const { Reply } = LlmScripted

interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, string | number | boolean>>
}

const write = (path: string, content: string): Call => ({ name: "write", arguments: { file_path: path, content } })
const read = (path: string): Call => ({ name: "read", arguments: { file_path: path } })
const edit = (path: string, old_string: string, new_string: string): Call => ({
  name: "edit",
  arguments: { file_path: path, old_string, new_string }
})
const bash = (command: string): Call => ({ name: "bash", arguments: { command, description: "Changes files." } })

const turn = ({ script }: Composed.Composed, agent: Agent, calls: ReadonlyArray<Call>, prompt = "go") =>
  Effect.gen(function* () {
    yield* script.add(...calls.map((call) => Reply.calls([call])), Reply.text("done"))
    const ended = yield* Effect.flatMap(agent.followup(prompt), agent.awaitTurn)
    yield* agent.whenIdle
    assert.strictEqual(ended.reason.kind, "completed")
  })

const rewindOf = (composed: Composed.Composed) =>
  Effect.provide(
    RewindLocal.make({ root: join(composed.home, "rewind") }),
    composed.composition.context() as Context.Context<Sessions | SessionRead>
  )

const started = Effect.gen(function* () {
  const composed = yield* Composed.make()
  return { composed, rewind: yield* rewindOf(composed) }
})

const appears = (folder: string, name: string) =>
  Effect.async<void>((done) => {
    const watcher = Fs.watch(folder, () => look())
    const look = () => {
      if (Fs.existsSync(join(folder, name))) done(Effect.sync(() => watcher.close()))
    }
    look()
    return Effect.sync(() => watcher.close())
  })

const agentIn = ({ agents }: Composed.Composed, cwd: string, preset = "standard") =>
  agents.create({ preset, cwd, provider: LlmScripted.provider, model: LlmScripted.model })

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...args], { cwd, encoding: "utf8" })

/** Every byte that git keeps of it. */
const repository = (folder: string) => Tree.states(Tree.of(join(folder, ".git"), []))

const said = (agent: Agent) =>
  agent.session.conversation.messages.map(({ content }) =>
    content
      .map((block) =>
        block.type === "tool-result" ? textOf(block.content) : "text" in block ? block.text : block.type
      )
      .join()
  )

const sound = (agent: Agent) => {
  const problems = [...verify(agent.session.range(0), (name) => (name === "neutral" ? neutral : undefined), newHash)]
  assert.isAbove(problems.length, 0)
  for (const { problem } of problems) assert.isUndefined(problem)
}

describe("a rewind", () => {
  it.scopedLive(
    "puts files back that tools and commands changed, and the conversation with them; and takes that back",
    () =>
      Effect.gen(function* () {
        const { composed, rewind } = yield* started
        const { project } = composed
        const at = (name: string) => join(project, name)
        Fs.writeFileSync(at("kept"), "kept")
        Fs.writeFileSync(at("a"), "one\n")
        const agent = yield* agentIn(composed, project)
        yield* turn(composed, agent, [read("a"), edit("a", "one", "two")], "first")
        const first = Tree.of(project)
        yield* turn(
          composed,
          agent,
          [write("new/b", "b"), bash("echo three > a; rm -f gone; mkdir empty; ln -s a link")],
          "second"
        )
        const second = Tree.of(project)
        const heard = said(agent)
        yield* turn(composed, agent, [bash("rm -r a new")], "third")

        const { id } = agent.session
        assert.deepStrictEqual(
          (yield* rewind.points(id)).map(({ files, isVisible, prompt, turn }) => ({ files, isVisible, prompt, turn })),
          [
            { turn: 1, prompt: "first", files: ["a"], isVisible: true },
            { turn: 2, prompt: "second", files: ["a", "empty", "link", "new", "new/b"], isVisible: true },
            { turn: 3, prompt: "third", files: ["a", "new", "new/b"], isVisible: true }
          ]
        )
        const back = yield* rewind.rewind({ session: id, turn: 1, files: true, conversation: true })
        assert.deepStrictEqual(Tree.states(Tree.of(project)), Tree.states(first))
        assert.strictEqual(Tree.of(project).get("kept")?.identity, first.get("kept")?.identity)
        assert.deepInclude(back, { hidden: [2, 3], shown: [], failed: [], undo: 3 })
        assert.deepStrictEqual(said(agent), heard.slice(0, said(agent).length))
        assert.strictEqual(said(agent).at(-1), "done")
        assert.notInclude(said(agent), "second")

        const forth = yield* rewind.rewind({ session: id, turn: 2, files: true, conversation: true })
        assert.deepInclude(forth, { hidden: [], shown: [2], undo: 1 })
        assert.deepStrictEqual(Tree.states(Tree.of(project)), Tree.states(second))
        assert.deepStrictEqual(said(agent), heard)

        yield* turn(composed, agent, [bash("echo four > a")], "fourth")
        assert.strictEqual(said(agent).length, heard.length + 4)
        sound(agent)
        yield* rewind.rewind({ session: id, turn: 0, files: true, conversation: true })
        assert.deepStrictEqual(said(agent), [])
        assert.deepStrictEqual(Fs.readdirSync(project).sort(), ["a", "kept"])
        assert.strictEqual(Fs.readFileSync(at("a"), "utf8"), "one\n")
      })
  )

  it.scopedLive("of the files alone tells the model, of the conversation alone leaves them", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project } = composed
      const agent = yield* agentIn(composed, project)
      const { id } = agent.session
      yield* turn(composed, agent, [write("a", "1")], "first")
      yield* turn(composed, agent, [read("a"), edit("a", "1", "2")], "second")
      yield* rewind.rewind({ session: id, turn: 1, files: false, conversation: true })
      assert.strictEqual(Fs.readFileSync(join(project, "a"), "utf8"), "2")
      assert.notInclude(said(agent), "second")
      const { undo } = yield* rewind.rewind({ session: id, turn: 1, files: true, conversation: false })
      assert.strictEqual(Fs.readFileSync(join(project, "a"), "utf8"), "1")
      assert.match(said(agent).at(-1) ?? "", /put these files back .* end of turn 1: a\./)
      yield* turn(composed, agent, [], "third")
      sound(agent)
      yield* rewind.rewind({ session: id, turn: undo, files: true, conversation: false })
      assert.strictEqual(Fs.readFileSync(join(project, "a"), "utf8"), "2")
    })
  )

  it.scopedLive("leaves what somebody else changed since, or in between, unless it is forced", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project } = composed
      const at = (name: string) => join(project, name)
      for (const name of ["since", "between", "own", "never"]) Fs.writeFileSync(at(name), "0")
      const agent = yield* agentIn(composed, project)
      const session = agent.session.id
      yield* turn(composed, agent, [bash("for f in since between own; do echo 1 > $f; done")])
      Fs.writeFileSync(at("between"), "mine")
      Fs.writeFileSync(at("never"), "mine")
      yield* turn(composed, agent, [bash("for f in since between own; do echo 2 > $f; done")])
      Fs.writeFileSync(at("since"), "mine")
      const request = { session, turn: 0, files: true, conversation: true }
      const plan = yield* rewind.plan(request)
      assert.deepStrictEqual(
        plan.files.map(({ obstacle, path }) => [path, obstacle?.kind]),
        [
          ["between", "changed-since"],
          ["own", undefined],
          ["since", "changed-since"]
        ]
      )
      const { restored } = yield* rewind.rewind(request)
      assert.deepStrictEqual(restored, ["own"])
      const contents = () =>
        ["since", "between", "own", "never"].map((name) => Fs.readFileSync(at(name), "utf8").trim())
      assert.deepStrictEqual(contents(), ["mine", "2", "0", "mine"])
      yield* rewind.rewind({ ...request, force: true })
      assert.deepStrictEqual(contents(), ["0", "0", "0", "mine"])
      // That kept what was the user's.
      yield* rewind.rewind({ ...request, turn: 2 })
      assert.deepStrictEqual(contents(), ["mine", "2", "2", "mine"])
    })
  )

  it.scopedLive("counts what another agent does beside it as that one's", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project } = composed
      const [one, other] = [yield* agentIn(composed, project), yield* agentIn(composed, project)]
      yield* turn(composed, one, [bash("echo 1 > one")])
      yield* turn(composed, other, [write("other", "1"), bash("echo 2 > theirs")])
      yield* turn(composed, one, [bash("echo 2 > two")])
      assert.deepStrictEqual(
        (yield* rewind.points(one.session.id)).map(({ files }) => files),
        [["one"], ["two"]]
      )
      yield* rewind.rewind({ session: one.session.id, turn: 0, files: true, conversation: false })
      assert.deepStrictEqual(Fs.readdirSync(project).sort(), ["other", "theirs"])
    })
  )

  it.scopedLive("does not count as its own what another agent wrote while its command ran", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project } = composed
      const [one, other] = [yield* agentIn(composed, project), yield* agentIn(composed, project)]
      const waiting = bash("touch begun; until [ -s other ]; do sleep 0.02; done; echo 2 > two")
      yield* composed.script.add(
        Reply.calls([waiting]),
        Reply.calls([write("other", "1")]),
        Reply.text("done"),
        Reply.text("done")
      )
      const working = yield* Effect.fork(Effect.flatMap(one.followup("go"), one.awaitTurn))
      yield* appears(project, "begun")
      yield* Effect.flatMap(other.followup("go"), other.awaitTurn)
      yield* Fiber.join(working)
      assert.deepStrictEqual((yield* rewind.points(one.session.id))[0]?.files, ["begun", "two"])
    })
  )

  it.scopedLive("finds what a background job does, in whatever turn that is", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project } = composed
      Fs.writeFileSync(join(project, "a"), "0")
      const agent = yield* agentIn(composed, project)
      const job = {
        ...bash(""),
        arguments: {
          command: "until [ -e go ]; do sleep 0.02; done; echo 1 > a",
          description: "Waits.",
          run_in_background: true
        }
      }
      yield* turn(composed, agent, [job])
      yield* turn(composed, agent, [
        bash("touch go"),
        { name: "job_output", arguments: { job_id: "bash-1", wait_ms: 10_000 } }
      ])
      const points = yield* rewind.points(agent.session.id)
      assert.deepStrictEqual(
        points.map(({ files }) => files),
        [[], ["a", "go"]]
      )
      yield* rewind.rewind({ session: agent.session.id, turn: 1, files: true, conversation: true })
      assert.strictEqual(Fs.readFileSync(join(project, "a"), "utf8"), "0")
      assert.deepStrictEqual(Fs.readdirSync(project), ["a"])
    })
  )

  it.scopedLive("finds what a job did that ended between two turns", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project } = composed
      Fs.writeFileSync(join(project, "a"), "0")
      const agent = yield* agentIn(composed, project)
      const command = "until [ -e go ]; do sleep 0.02; done; echo 1 > a"
      yield* turn(composed, agent, [
        { ...bash(""), arguments: { command, description: "Waits.", run_in_background: true } }
      ])
      const told = yield* Deferred.make<void>()
      yield* agent.session.observe((entry) => {
        if ("type" in entry && entry.type === "turn/end") Deferred.unsafeDone(told, Effect.void)
      })
      yield* composed.script.add(Reply.text("I was told of its end."))
      Fs.writeFileSync(join(project, "go"), "")
      yield* Deferred.await(told)
      yield* agent.whenIdle
      assert.include((yield* rewind.points(agent.session.id))[1]?.files ?? [], "a")
    })
  )

  it.scopedLive("tells what a shell that goes on does from what somebody else does while it waits", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project } = composed
      for (const name of ["own", "mine"]) Fs.writeFileSync(join(project, name), "0")
      const agent = yield* agentIn(composed, project, "minimal")
      const shell = (command: string) => ({ name: "bash", arguments: { command } })
      yield* turn(composed, agent, [shell("echo 1 > own")])
      Fs.writeFileSync(join(project, "mine"), "1")
      const insert = { command: "create", path: join(project, "made"), file_text: "made" }
      yield* turn(composed, agent, [shell("echo 2 > own"), { name: "str_replace_editor", arguments: insert }])
      assert.deepStrictEqual(
        (yield* rewind.points(agent.session.id)).map(({ files }) => files),
        [["own"], ["made", "own"]]
      )
      yield* rewind.rewind({ session: agent.session.id, turn: 0, files: true, conversation: true })
      assert.deepStrictEqual(
        Fs.readdirSync(project).map((name) => [name, Fs.readFileSync(join(project, name), "utf8")]),
        [
          ["mine", "1"],
          ["own", "0"]
        ]
      )
    })
  )

  it.scopedLive("finds what a command had done when it was stopped", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { project, script } = composed
      const agent = yield* agentIn(composed, project)
      yield* script.add(Reply.calls([bash("echo 1 > a; touch started; sleep 60")]))
      const ended = yield* Effect.fork(Effect.flatMap(agent.followup("go"), agent.awaitTurn))
      yield* appears(project, "started")
      yield* agent.cancel()
      assert.strictEqual((yield* Fiber.join(ended)).reason.kind, "aborted")
      yield* agent.whenIdle
      yield* rewind.rewind({ session: agent.session.id, turn: 0, files: true, conversation: false })
      assert.deepStrictEqual(Fs.readdirSync(project), [])
    })
  )

  it.scopedLive("copies nothing that git has, and has it all the same", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { home, project } = composed
      const at = (name: string) => join(project, name)
      git(project, "init", "-q")
      for (const name of ["clean-one", "clean-two", "dirty"]) Fs.writeFileSync(at(name), `text of ${name}`)
      git(project, "add", "-A")
      // As if that had been a while ago.
      const later = Fs.statSync(at(".git/index")).mtimeMs / 1000 + 10
      Fs.utimesSync(at(".git/index"), later, later)
      Fs.writeFileSync(at("dirty"), "text of something else")
      const agent = yield* agentIn(composed, project)
      yield* turn(composed, agent, [bash("true")])
      const kept = (text: string) => holding(join(home, "rewind", "objects"), text).length
      assert.deepStrictEqual([kept("text of clean"), kept("text of something else")], [0, 1])
      yield* turn(composed, agent, [bash("echo more >> clean-one; rm clean-two dirty")])
      assert.strictEqual(kept("text of clean-one"), 2)
      yield* rewind.rewind({ session: agent.session.id, turn: 0, files: true, conversation: true })
      assert.deepStrictEqual(
        ["clean-one", "clean-two", "dirty"].map((name) => Fs.readFileSync(at(name), "utf8")),
        ["text of clean-one", "text of clean-two", "text of something else"]
      )
    })
  )

  it.scopedLive("says that a workspace is too large to be watched, and still knows what tools write", () =>
    Effect.gen(function* () {
      const composed = yield* Composed.make({ recording: { maxEntries: 2 } })
      const rewind = yield* rewindOf(composed)
      const { project } = composed
      for (const name of ["a", "b", "c"]) Fs.writeFileSync(join(project, name), "0")
      const agent = yield* agentIn(composed, project)
      yield* turn(composed, agent, [bash("echo 1 > a"), write("d", "1"), bash("echo 1 > b")])
      const notes = [...agent.session.range(0)].flatMap((event) =>
        event.type === "files/changed" ? (event.data.note ?? []) : []
      )
      assert.lengthOf(notes, 1)
      assert.match(notes[0] ?? "", /more than 2 files/)
      assert.deepStrictEqual((yield* rewind.points(agent.session.id))[0]?.files, ["d"])
    })
  )

  it.scopedLive("never touches what git ignores, what it keeps, or what holds keys", () =>
    Effect.gen(function* () {
      const { composed, rewind } = yield* started
      const { home, project } = composed
      const at = (name: string) => join(project, name)
      git(project, "init", "-q")
      Fs.writeFileSync(at(".gitignore"), "dist/\n*.log\n")
      Fs.writeFileSync(at(".env"), "SECRET=abcdefgh12345678\n")
      Fs.writeFileSync(at("a"), "1")
      git(project, "add", "-A", "-f", ".gitignore", "a")
      const agent = yield* agentIn(composed, project)
      yield* turn(composed, agent, [
        bash(
          "mkdir dist; echo 1 > dist/x; echo 1 > b.log; echo 2 > a; echo more >> .env; git add a; git commit -qm x --author 'a <a@b>' || true"
        )
      ])
      const kept = repository(project)
      const { failed, files } = yield* rewind.rewind({
        session: agent.session.id,
        turn: 0,
        files: true,
        conversation: true
      })
      assert.deepStrictEqual(failed, [])
      assert.deepStrictEqual(
        files.map(({ obstacle, path }) => [path, obstacle?.kind]),
        [
          [".env", "not-kept"],
          ["a", undefined]
        ]
      )
      assert.deepStrictEqual(repository(project), kept)
      assert.strictEqual(Fs.readFileSync(at("a"), "utf8"), "1")
      assert.isTrue(Fs.existsSync(at("dist/x")))
      assert.deepStrictEqual(holding(join(home, "rewind"), "abcdefgh12345678"), [])
    })
  )
})

/** The files below `folder` that a text is in. */
const holding = (folder: string, text: string): ReadonlyArray<string> =>
  Fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => Fs.readFileSync(path).includes(text))
