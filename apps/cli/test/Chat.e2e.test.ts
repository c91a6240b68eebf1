// A chat in a real terminal, from the built command to what is to be seen on the screen.
import * as ChatRequest from "@dsh/testing/ChatRequest"
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Pty from "./support/Pty.ts"
import * as Workspace from "./support/Workspace.ts"

const [enter, escape, up, down, ctrlC, ctrlD] = ["\r", "\u001b", "\u001b[A", "\u001b[B", "\u0003", "\u0004"]

const bash = (command: string, reasoning?: string) =>
  Reply.toolCalls([{ name: "bash", arguments: { command, description: "Runs a command for the test." } }], {
    ...(reasoning !== undefined && { reasoning })
  })

/** Waits for the file `go`. */
const waiting = bash("echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over")

const chat = (script: Script.Script, args: ReadonlyArray<string> = [], options?: Pty.Options) =>
  Effect.gen(function* () {
    const workspace = yield* Workspace.make(script)
    const terminal = yield* Pty.open(["chat", ...args], workspace, options)
    yield* terminal.until("Enter sends")
    return { workspace, terminal }
  })

const leave = (terminal: Pty.Pty) =>
  Effect.gen(function* () {
    terminal.type(ctrlD)
    const { code } = yield* terminal.exit
    assert.strictEqual(code, 0, terminal.all())
  })

/** Those of `texts` that the model was given as messages of the user, in its order. */
const given = ({ server }: Workspace.Workspace, texts: ReadonlyArray<string>) =>
  Effect.map(server.requests, (requests) =>
    (requests.at(-1)?.request?.messages ?? []).flatMap(({ role, text }) =>
      role === "user" && texts.includes(text) ? [text] : []
    )
  )

const types = (workspace: Workspace.Workspace): ReadonlyArray<string> =>
  workspace.sessions().flatMap((id) => workspace.log(id).map(({ type }) => type))

describe("dsh chat", () => {
  it.scopedLive("answers what is typed, in Markdown, shows thoughts when asked, and says what it took", () =>
    Effect.gen(function* () {
      const answer = Reply.text("A **bold** word, `code`.\n\n- one\n- two\n", { reasoning: "First this.\nThen that." })
      const { terminal, workspace } = yield* chat(Script.conversation([answer]))
      terminal.type(`hello there${enter}`)
      const screen = yield* terminal.until(/ in \(.* out/)
      assert.match(
        screen,
        /> hello there\n\nthought 2 lines .*First this\. Then that\.\n\nA bold word, code\.\n\n- one\n- two\n/
      )
      assert.match(screen, /\ndeepseek-v4-flash · danger-full-access · [\d.]+k in/)
      assert.notInclude(screen, "**")
      terminal.type("\u0014")
      yield* terminal.until(/ {2}First this\.\n {2}Then that\./)
      terminal.type("\u0014")
      yield* terminal.until("thought 2 lines")
      yield* leave(terminal)
      assert.match(terminal.all(), /dsh: session \S+ is kept; dsh chat/)
      const [id = ""] = workspace.sessions()
      assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
    })
  )

  it.scopedLive("takes messages of several lines, typed and pasted", () =>
    Effect.gen(function* () {
      const { terminal, workspace } = yield* chat(Script.conversation([Reply.text("Read.")]))
      terminal.type(`one${escape}${enter}two\nthree\\${enter}`)
      terminal.type("\u001b[200~four\nfive\u001b[201~")
      yield* terminal.until(/one *\ntwo *\nthree *\nfour *\nfive/)
      terminal.type(enter)
      yield* terminal.until("Read.")
      const text = "one\ntwo\nthree\nfour\nfive"
      assert.deepStrictEqual(yield* given(workspace, [text]), [text])
      yield* leave(terminal)
    })
  )

  it.scopedLive("steers what is running, queues what comes after it, and gives back what was not taken yet", () =>
    Effect.gen(function* () {
      const script = Script.conversation([waiting, Reply.text("First."), Reply.text("Second.")])
      const { terminal, workspace } = yield* chat(script)
      terminal.type(`go${enter}`)
      yield* terminal.until(/○ \$ echo begun[\s\S]*working, \d+ s/)
      terminal.type(`faster${enter}`)
      yield* terminal.until("» steers: faster")
      terminal.type("later\t")
      yield* terminal.until("+ queued: later")
      terminal.type("never\t")
      yield* terminal.until("+ queued: never")
      terminal.type("\u001b[1;3A")
      yield* terminal.until((screen) => !screen.includes("queued: never") && /\nnever *\n/.test(screen))
      terminal.type(ctrlC)
      yield* terminal.until("Ctrl+C again leaves")
      writeFileSync(join(workspace.project, "go"), "")
      const screen = yield* terminal.until("Second.")
      assert.match(screen, /● \$ echo begun[^]*> faster\n\nFirst\.\n\n> later\n\nSecond\./)
      assert.notInclude(screen, "queued")
      const texts = ["go", "faster", "later"]
      assert.deepStrictEqual(yield* given(workspace, [...texts, "never"]), texts)
      yield* leave(terminal)
    })
  )

  it.scopedLive("is cancelled by Esc, whatever runs, and goes on afterwards", () =>
    Effect.gen(function* () {
      const script = Script.conversation([bash("echo $$ > pid; exec sleep 1000"), Reply.text("Back again.")])
      const { terminal, workspace } = yield* chat(script)
      terminal.type(`go${enter}`)
      const pid = join(workspace.project, "pid")
      yield* terminal.until(() => existsSync(pid) && readFileSync(pid, "utf8").trim() !== "")
      terminal.type("later\t")
      yield* terminal.until("+ queued: later")
      terminal.type(escape)
      const screen = yield* terminal.until("! cancelled")
      assert.include(screen, "+ queued: later")
      assert.include(screen, "✗ $ echo $$ > pid")
      Pty.assertGone(Number(readFileSync(pid, "utf8")))
      terminal.type(`and now?${enter}`)
      yield* terminal.until((seen) => seen.split("Back again.").length === 3 && !seen.includes("+ queued"))
      assert.deepStrictEqual(yield* given(workspace, ["later", "and now?"]), ["later", "and now?"])
      yield* leave(terminal)
    })
  )

  it.scopedLive("fits another size of the terminal, and what was written stays readable", () =>
    Effect.gen(function* () {
      const words = Array.from({ length: 30 }, (_, i) => `word${i}`).join(" ")
      const { terminal } = yield* chat(Script.conversation([Reply.text(`${words}\n\nThe end.`)]))
      terminal.type(`a message that is longer than forty columns of a terminal are${enter}`)
      yield* terminal.until(/The end\.[\s\S]* out/)
      for (const columns of [40, 120, 80]) {
        terminal.resize(columns)
        const rule = "─".repeat(columns)
        yield* terminal.until((seen) => {
          const lines = seen.split("\n")
          return (
            lines.every((line) => line.length <= columns) &&
            lines.filter((line) => line.includes("─")).join() === `${rule},${rule}` &&
            JSON.stringify(seen.match(/word\d+/g)) === JSON.stringify(words.split(" ")) &&
            /\n\nThe end\.\n─+\n *\n─+\ndeepseek/.test(seen)
          )
        })
      }
      // Nothing can be read there, and nothing breaks.
      terminal.resize(3, 2)
      terminal.type("still here")
      yield* terminal.until((seen) => seen.split("\n").every((line) => line.length <= 3))
      terminal.resize(80, 24)
      yield* terminal.until(/─\nstill here *\n─/)
      yield* terminal.until(() => terminal.cursor()[1] === "still here".length)
      terminal.type(ctrlC)
      yield* terminal.until("Ctrl+C again")
      terminal.type(ctrlC)
      assert.strictEqual((yield* terminal.exit).code, 0)
    })
  )

  it.scopedLive("shows long answers once, in the scrollback, without painting them again", () =>
    Effect.gen(function* () {
      const lines = Array.from({ length: 1500 }, (_, i) => `Paragraph number ${i}.`)
      const { terminal } = yield* chat(Script.conversation([Reply.text(lines.map((line) => `${line}\n\n`))]))
      terminal.type(`go${enter}`)
      yield* terminal.until(/number 1499\.[\s\S]* out/)
      const all = terminal.all()
      assert.deepStrictEqual(all.match(/Paragraph number \d+\./g), lines)
      assert.isBelow(terminal.raw().length, 20 * lines.join("\n\n").length)
      yield* leave(terminal)
    })
  )

  it.scopedLive("obeys nothing that a model, a command or a file name says to the terminal", () =>
    Effect.gen(function* () {
      const evil = "\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u001b[0m\u009b5mblink\u202edesrever"
      const script = Script.conversation([
        bash("printf '\\033]0;owned\\007\\033[2Jout\\r\\033[8mput\\n' ; touch \"$(printf 'na\\033[2Jme')\"", evil),
        Reply.text(`${evil} &#27;[2J [link](https://example.com/\u001b[2J)\n\n\`\`\`\n${evil}\n\`\`\`\n\nThat is all.`)
      ])
      const { terminal } = yield* chat(script)
      terminal.type(`hello${enter}`)
      yield* terminal.until("That is all.")
      terminal.type("@na")
      yield* terminal.until("→ na")
      const raw = terminal.raw()
      for (const harm of ["owned\u0007", "\u001b[2J", "\u001b]", "\u009b", "\u202e", "\u001b[8m", "\u001b[31mred"]) {
        assert.notInclude(raw, harm)
      }
      assert.include(terminal.all(), "> hello")
      terminal.type(ctrlC)
      yield* terminal.until("Ctrl+C again")
      yield* leave(terminal)
    })
  )

  it.scopedLive("has no colour where none is wanted", () =>
    Effect.gen(function* () {
      const { terminal } = yield* chat(Script.conversation([Reply.text("# Title\n\n**bold** `code`")]), [], {
        env: { NO_COLOR: "1" }
      })
      terminal.type(`hello${enter}`)
      yield* terminal.until(/bold code[\s\S]* out/)
      // oxlint-disable-next-line no-control-regex
      assert.notMatch(terminal.raw(), /\u001b\[(?!7m|27m|0m)[\d;]*m/)
      yield* leave(terminal)
    })
  )
})

describe("the commands of a chat", () => {
  it.scopedLive("change the model and what tools may do, are completed, and never reach the model", () =>
    Effect.gen(function* () {
      const { terminal, workspace } = yield* chat(Script.conversation([Reply.text("Hello.")]))
      terminal.type("/")
      yield* terminal.until(/\/exit[\s\S]*\/help/)
      terminal.type("mod\t")
      yield* terminal.until(/\n\/model *\n/)
      terminal.type("pro")
      yield* terminal.until(/→ deepseek-v4-pro +deepseek-official/)
      terminal.type(`\t${enter}`)
      yield* terminal.until("deepseek-v4-pro goes on from the next request")
      terminal.type(`/permission${enter}`)
      yield* terminal.until("→ danger-full-access")
      terminal.type(up)
      yield* terminal.until("→ workspace-write")
      terminal.type(enter)
      yield* terminal.until(/tools of this session: workspace-write[\s\S]*deepseek-v4-pro · workspace-write/)
      terminal.type("\u001b[Z")
      yield* terminal.until("deepseek-v4-pro · read-only")
      terminal.type(`/nonsense${enter}`)
      yield* terminal.until("there is no command /nonsense; /help lists them")
      terminal.type(ctrlC)
      yield* terminal.until("Ctrl+C again")
      terminal.type(`//usr/bin is a path${enter}`)
      yield* terminal.until("Hello.")
      assert.lengthOf(yield* given(workspace, ["/usr/bin is a path"]), 1)
      const [last] = (yield* workspace.server.requests).slice(-1)
      assert.include(String(last?.body), `"model":"deepseek-v4-pro"`)
      assert.notInclude(String(last?.body), "/permission")
      terminal.type(`/usage${enter}`)
      yield* terminal.until(/1 request, \d+ tokens in/)
      terminal.type(`/help${enter}`)
      yield* terminal.until("/usage")
      terminal.type(`/exit${enter}`)
      assert.strictEqual((yield* terminal.exit).code, 0)
      for (const type of ["command/run", "command/done"]) {
        assert.lengthOf(
          types(workspace).filter((each) => each === type),
          6
        )
      }
    })
  )

  it.scopedLive("begin a new session and go back to another, by a list or by its id", () =>
    Effect.gen(function* () {
      const script = Script.respond((request) => Reply.text(`Answer ${ChatRequest.answers(request) + 1}.`))
      const { terminal, workspace } = yield* chat(script)
      terminal.type(`the first talk${enter}`)
      yield* terminal.until("Answer 1.")
      terminal.type(`/new${enter}`)
      yield* terminal.until((screen) => screen.split("Enter sends").length === 3)
      terminal.type(`the second talk${enter}`)
      yield* terminal.until(/second talk\n\nAnswer 1\./)
      terminal.type(`/resume${enter}`)
      yield* terminal.until(/→ the first talk +(just now|1 minute ago)/)
      terminal.type(enter)
      yield* terminal.until(/Enter sends[^\n]*\n+> the first talk\n\nAnswer 1\.\n─/)
      terminal.type(`again${enter}`)
      yield* terminal.until("Answer 2.")
      terminal.type(`/resume session-of-nobody${enter}`)
      yield* terminal.until(/SESSION_NOT_FOUND[\s\S]*Answer 2\./)
      yield* leave(terminal)
      assert.strictEqual(workspace.sessions().length, 2)

      const again = yield* Pty.open(["chat", "--continue"], workspace)
      yield* again.until(/> again\n\nAnswer 2\./)
      again.type(`more${enter}`)
      yield* again.until("Answer 3.")
      yield* leave(again)
      const second = workspace.sessions().find((id) => JSON.stringify(workspace.log(id)).includes("the second talk"))
      const other = yield* Pty.open(["chat", "--session", second ?? "", "one", "more"], workspace)
      yield* other.until(/> the second talk\n\nAnswer 1\.[\s\S]*> one more\n\nAnswer 2\./)
      yield* leave(other)
    })
  )

  it.scopedLive("and messages are found again with the arrow keys, in later chats, too", () =>
    Effect.gen(function* () {
      const script = Script.conversation([Reply.text("Hello.")])
      const { terminal, workspace } = yield* chat(script)
      terminal.type(`first\nwith two lines${enter}`)
      yield* terminal.until("Hello.")
      terminal.type(`/usage${enter}`)
      yield* terminal.until("1 request")
      yield* leave(terminal)
      const again = yield* Pty.open(["chat"], workspace)
      yield* again.until("Enter sends")
      again.type(up)
      yield* again.until(/─\n\/usage *\n─/)
      again.type(up)
      yield* again.until(/─\nfirst *\nwith two lines *\n─/)
      again.type(down)
      yield* again.until(/─\n\/usage *\n─/)
      again.type(down)
      yield* again.until(/─\n *\n─/)
      yield* leave(again)
      assert.strictEqual(
        readFileSync(join(workspace.home, "chat-history.jsonl"), "utf8"),
        `"first\\nwith two lines"\n"/usage"\n`
      )
    })
  )

  it.scopedLive("go back to before a message, which is there to be said otherwise", () =>
    Effect.gen(function* () {
      const write = (content: string) => Reply.toolCalls([{ name: "write", arguments: { file_path: "kept", content } }])
      const script = Script.respond((request) => {
        const said = request.messages.filter(({ role }) => role === "user").map(({ text }) => text)
        const last = request.messages.at(-1)
        if (last?.role === "tool")
          return Reply.text(`Written after ${said.filter((text) => text.startsWith("make")).length}.`)
        return write(said.at(-1) ?? "")
      })
      const { terminal, workspace } = yield* chat(script)
      const file = join(workspace.project, "kept")
      terminal.type(`make one${enter}`)
      yield* terminal.until("Written after 1.")
      const one = readFileSync(file, "utf8")
      terminal.type(`make two${enter}`)
      yield* terminal.until("Written after 2.")
      assert.notStrictEqual(readFileSync(file, "utf8"), one)
      terminal.type(`/rewind${enter}`)
      yield* terminal.until(/Back to before which message\?\n→ make two +1 file\n {2}make one +1 file/)
      terminal.type(enter)
      yield* terminal.until("→ The conversation and the files")
      terminal.type(enter)
      yield* terminal.until(/back at what was at the end of turn 1: 1 file restored[\s\S]*─\nmake two *\n─/)
      assert.strictEqual(readFileSync(file, "utf8"), one)
      terminal.type(` again${enter}`)
      yield* terminal.until(/> make two again[\s\S]*Written after 2\./)
      assert.deepStrictEqual(yield* given(workspace, ["make one", "make two", "make two again"]), [
        "make one",
        "make two again"
      ])
      terminal.type(`/rewind 0 files${enter}`)
      yield* terminal.until("/rewind 3 files takes this back")
      assert.isFalse(existsSync(file))
      terminal.type(`/rewind 77${enter}`)
      yield* terminal.until("has no turn 77")
      yield* leave(terminal)
    })
  )

  it.scopedLive("have paths completed in messages", () =>
    Effect.gen(function* () {
      const { terminal, workspace } = yield* chat(Script.conversation([Reply.text("Seen.")]))
      mkdirSync(join(workspace.project, "source"))
      for (const name of ["main.ts", "a b.ts"]) writeFileSync(join(workspace.project, "source", name), "")
      terminal.type("look at @sour")
      yield* terminal.until("→ source/")
      terminal.type("\t")
      yield* terminal.until("look at @source/")
      terminal.type("a")
      yield* terminal.until("→ source/a b.ts")
      terminal.type(`\tplease`)
      yield* terminal.until(`look at @"source/a b.ts" please`)
      terminal.type(enter)
      yield* terminal.until("Seen.")
      assert.lengthOf(yield* given(workspace, [`look at @"source/a b.ts" please`]), 1)
      yield* leave(terminal)
    })
  )
})
