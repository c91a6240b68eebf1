// Random work over several turns through the real tools, then to random turns and back: every tree is byte for byte what it was, files that
// the agent never touched keep even their times, and git is left alone. DSH_SEED repeats a run, DSH_TRIALS sets how many.
import type { Agent } from "@dsh/agent/Agent"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import * as RewindLocal from "@dsh/rewind/RewindLocal"
import type { SessionRead, Sessions } from "@dsh/session/Sessions"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import * as Composed from "./support/Composed.ts"
import * as Tree from "./support/Tree.ts"

const { Reply } = LlmScripted

const seed = Number(process.env["DSH_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const trials = Number(process.env["DSH_TRIALS"] ?? 8)

/** mulberry32 */
const random = (state: number) => () => {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}

type Random = () => number

const pick = <A>(next: Random, from: ReadonlyArray<A>): A => from[Math.floor(next() * from.length)]!
const upTo = (next: Random, n: number) => Math.floor(next() * n)

const names = ["a.txt", "b c.txt", "ü ñ.md", "日本.txt", "x'y.sh", 'q"r', "empty", "data.bin", "-dash", "$HOME"]
const folders = ["", "src/", "src/deep er/", "naïve/", "lib/"]
const pathOf = (next: Random) => `${pick(next, folders)}${pick(next, names)}`
const quoted = (path: string) => `'./${path.replaceAll("'", `'\\''`)}'`

const content = (next: Random) => {
  const kind = upTo(next, 4)
  if (kind === 0) return ""
  return Array.from({ length: 1 + upTo(next, 20) }, () => `line ${upTo(next, 1000)} é`).join(kind === 1 ? "\r\n" : "\n")
}

interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, string>>
}

const bash = (command: string): Call => ({ name: "bash", arguments: { command, description: "Changes files." } })

/** A command line that may well fail: what matters is what it leaves behind. */
const command = (next: Random): string => {
  const [p, q] = [quoted(pathOf(next)), quoted(pathOf(next))]
  const made = `mkdir -p "$(dirname ${p})" "$(dirname ${q})"`
  switch (upTo(next, 14)) {
    case 0:
      return `${made}; mv ${p} ${q}`
    case 1:
      return `rm -rf ${p}`
    case 2:
      return `chmod ${pick(next, ["600", "644", "755", "700", "444"])} ${p}`
    case 3:
      return `${made}; ln -sfn ${pick(next, ["a.txt", "../nowhere", "/etc/hostname", "src"])} ${p}`
    case 4:
      return `${made}; head -c ${upTo(next, 5000)} /dev/urandom > ${p}`
    case 5:
      return `${made}; : > ${p}`
    case 6:
      return `${made}; cp -R ${p} ${q}`
    case 7:
      return `mkdir -p ${quoted(`${pick(next, folders)}dir ${upTo(next, 3)}/inner`)}`
    case 8:
      return `rm -rf ${quoted(pick(next, folders.slice(1)))}`
    case 9:
      return `mv ${quoted(pick(next, folders.slice(1)))} moved${upTo(next, 3)}`
    case 10:
      return `${made}; printf 'more\\n' >> ${p}`
    case 11:
      return `rm -rf ${p}; mkdir -p ${p}; echo inside > ${p}/inside`
    case 12:
      return `rm -rf ${p}; ${made}; echo file > ${p}`
    default:
      return `touch ${p}; find . -maxdepth 1 -name '*.txt' -exec sed -i.bak s/line/LINE/ {} \\;; rm -f *.bak`
  }
}

const calls = (next: Random): ReadonlyArray<Call> => {
  const path = pathOf(next)
  const kind = next()
  if (kind < 0.55) return [bash(command(next))]
  if (kind < 0.6) return [bash(`${command(next)}; ${command(next)}; ${command(next)}`)]
  const read = { name: "read", arguments: { file_path: path } }
  if (kind < 0.85) return [read, { name: "write", arguments: { file_path: path, content: content(next) } }]
  return [
    read,
    { name: "edit", arguments: { file_path: path, old_string: "line", new_string: "edited", replace_all: "x" } }
  ]
}

/** A few files of every kind, committed, staged, stashed, changed and new. */
const prepare = (next: Random, folder: string) => {
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...args], { cwd: folder, stdio: "pipe" })
  Fs.mkdirSync(folder)
  git("init", "-q")
  const put = (path: string, text: string | Buffer, mode = 0o644) => {
    const absolute = join(folder, path)
    Fs.mkdirSync(join(absolute, ".."), { recursive: true })
    Fs.writeFileSync(absolute, text, { mode })
  }
  put(".gitignore", "ignored/\n*.tmp\n")
  for (let n = 0; n < 12; n++) put(pathOf(next), content(next), pick(next, [0o644, 0o755, 0o600]))
  for (let n = 0; n < 5; n++) put(`untouched/${n} ü`, content(next))
  put("data.bin", Buffer.from([0, 255, 254, 0, 10, 13, upTo(next, 255)]))
  git("add", "-A")
  git("commit", "-qm", "first")
  put("untouched/stashed", "stash me")
  git("add", "-A")
  git("stash", "-q")
  put("untouched/staged", "staged")
  git("add", "untouched/staged")
  put("ignored/cache", "cache")
  put("untouched/new", "neither staged nor ignored")
  Fs.symlinkSync("a.txt", join(folder, "untouched/link"))
}

const untouched = (tree: Tree.Tree) =>
  Object.fromEntries([...tree].filter(([path]) => /^(untouched|ignored)\//.test(path)))

const trial = (composed: Composed.Composed, number: number) =>
  Effect.gen(function* () {
    const next = random(seed + number)
    const folder = join(composed.project, `trial ${number}`)
    prepare(next, folder)
    const rewind = yield* Effect.provide(
      RewindLocal.make({ root: join(composed.home, "rewind") }),
      composed.composition.context() as Context.Context<Sessions | SessionRead>
    )
    const agent: Agent = yield* composed.agents.create({
      preset: "standard",
      cwd: folder,
      provider: LlmScripted.provider,
      model: LlmScripted.model
    })
    const session = agent.session.id
    const began = Tree.of(folder)
    const repository = Tree.of(join(folder, ".git"), [])
    /** By turn, what was there at its end. */
    const trees = new Map<number, Tree.Tree>([[0, began]])
    let turn = 0
    const work = Effect.gen(function* () {
      const batch = Array.from({ length: upTo(next, 5) }, () => calls(next)).flat()
      yield* composed.script.add(...batch.map((call) => Reply.calls([call])), Reply.text("done"))
      yield* Effect.flatMap(agent.followup(`turn ${turn}`), agent.awaitTurn)
      yield* agent.whenIdle
      trees.set(++turn, Tree.of(folder))
    })
    const goTo = Effect.gen(function* () {
      const target = upTo(next, turn + 1)
      const outcome = yield* rewind.rewind({ session, turn: target, files: true, conversation: next() < 0.5 })
      assert.deepStrictEqual(outcome.failed, [], `to turn ${target}`)
      assert.deepStrictEqual(
        outcome.files.filter(({ obstacle }) => obstacle !== undefined),
        [],
        `to turn ${target}`
      )
      const now = Tree.of(folder)
      assert.deepStrictEqual(Tree.states(now), Tree.states(trees.get(target)!), `to turn ${target}`)
      assert.deepStrictEqual(untouched(now), untouched(began))
    })
    for (let n = 0; n < 4; n++) yield* work
    for (let n = 0; n < 3; n++) yield* goTo
    for (let n = 0; n < 2; n++) yield* work
    for (let n = 0; n < 3; n++) yield* goTo
    assert.deepStrictEqual(Tree.of(join(folder, ".git"), []), repository)
  }).pipe(Effect.scoped)

describe("a rewind after random work", () => {
  it.scopedLive(
    `restores every turn (DSH_SEED=${seed})`,
    () =>
      Effect.gen(function* () {
        const composed = yield* Composed.make()
        for (let n = 0; n < trials; n++) {
          yield* Effect.catchAllDefect(trial(composed, n), (defect) =>
            Effect.sync(() => {
              throw new Error(`DSH_SEED=${seed + n} DSH_TRIALS=1`, { cause: defect })
            })
          )
        }
      }),
    120_000
  )
})
