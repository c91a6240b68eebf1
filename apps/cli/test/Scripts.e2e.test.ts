// What goes wrong in scripts, as people ran into it: each recipe is a script of its own, and the same is asked of all of them. stdout,
// stderr and exit code say what happened, every log is sound and can be rebuilt, and nothing runs on.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Batches from "./support/Batches.ts"
import { sh } from "./support/Shell.ts"
import * as Workspace from "./support/Workspace.ts"

interface Recipe {
  /** Replies, the last one again and again. */
  readonly model: ReadonlyArray<Script.Step>
  readonly script: string
  readonly env?: Readonly<Record<string, string>>
  /** The exit code of the script, and what it and `dsh` printed. */
  readonly code: number
  readonly stdout: RegExp
  readonly stderr: RegExp
  /** How the last turn of each session ended, oldest session first. Default: there is one session, and it completed. */
  readonly ends?: ReadonlyArray<string>
}

const hi = Reply.text("hi")
const silent = /^$/
const bash = (command: string, fields: object = {}) =>
  Reply.toolCalls([{ name: "bash", arguments: { command, description: "Run a command", ...fields } }])
const read = (path: string) => Reply.toolCalls([{ name: "read", arguments: { file_path: path } }])
const write = Reply.toolCalls([{ name: "write", arguments: { file_path: "a.txt", content: "a" } }])
let number = 0
/** Another call each time: only a budget ends it. */
const busy = () => bash(`echo ${number++}`)
const held = { ending: "hold", finish: null, done: false, usage: null } as const

const recipes: Readonly<Record<string, Readonly<Record<string, Recipe>>>> = {
  "the exit code": {
    "of a refused key": {
      model: [Reply.behaviour("auth_error")],
      script: `dsh run go`,
      code: 3,
      stdout: /^\n?$/,
      stderr: /^dsh: AUTH: .*key.*$/m,
      ends: ["error"]
    },
    "of an unknown model": {
      model: [Reply.error(400, { message: "Model Not Exist", type: "invalid_request_error" })],
      script: `dsh run --model nobody go`,
      code: 1,
      stdout: /^\n?$/,
      stderr: /^dsh: INVALID_REQUEST: .*Model Not Exist/m,
      ends: ["error"]
    },
    "of an unknown session": {
      model: [hi],
      script: `dsh run --session nope go`,
      code: 1,
      stdout: silent,
      stderr: /^dsh: SESSION_NOT_FOUND: .*nope/m,
      ends: []
    },
    "of a conversation that is too long": {
      model: [Reply.behaviour("context_overflow")],
      script: `dsh run go`,
      code: 1,
      stdout: /^\n?$/,
      stderr: /^dsh: CONTEXT_WINDOW_EXCEEDED: /m,
      ends: ["error"]
    },
    "of a run whose every tool call was denied": {
      model: [bash("touch no"), Reply.text("I may not.")],
      script: `dsh permission deny "bash(touch *)" 2> /dev/null; dsh run go; code=$?; test ! -e no || echo done; exit $code`,
      code: 1,
      stdout: /^I may not\.\n$/,
      stderr: /^dsh: ALL_DENIED: /m
    },
    "of a failure that passed": {
      model: [Reply.behaviour("service_unavailable"), hi],
      script: `dsh run go`,
      env: { DSH_MAX_RETRIES: "3" },
      code: 0,
      stdout: /^hi\n$/,
      stderr: /in \d\.\d s: /
    },
    "of an empty task": {
      model: [hi],
      script: `dsh run ""`,
      code: 2,
      stdout: silent,
      stderr: /^dsh: USAGE: /,
      ends: []
    },
    "in a folder that is no repository": {
      model: [bash("git status"), hi],
      script: `dsh run go`,
      code: 0,
      stdout: /^hi\n$/,
      stderr: silent
    },
    "of no key": {
      model: [hi],
      script: `DEEPSEEK_API_KEY= dsh run go`,
      code: 3,
      stdout: silent,
      stderr: /^dsh: MISSING_CREDENTIAL: .*dsh credentials set/m,
      ends: []
    }
  },
  stdin: {
    "that stays silent is given up": {
      model: [hi],
      script: `mkfifo p; sleep 600 > p & dsh run go < p; code=$?; kill $!; exit $code`,
      code: 0,
      stdout: /^hi\n$/,
      stderr: /^(dsh: nothing arrived on stdin for 3s; going on without it\n)?$/
    },
    "is read to its end and put behind the task": {
      model: [
        ({ messages }) =>
          Reply.text(String(messages.find(({ text }) => text.startsWith("how many?"))?.text.match(/line/g)?.length))
      ],
      script: `for i in $(seq 2000); do echo line $i; done | dsh run "how many?"`,
      code: 0,
      stdout: /^2000\n$/,
      stderr: silent
    },
    "that is closed is nothing": { model: [hi], script: `dsh run go <&-`, code: 0, stdout: /^hi\n$/, stderr: silent },
    "that is a folder is nothing": { model: [hi], script: `dsh run go < .`, code: 0, stdout: /^hi\n$/, stderr: silent },
    "that is empty is no task": {
      model: [hi],
      script: `dsh run < /dev/null`,
      code: 2,
      stdout: silent,
      stderr: /^dsh: USAGE: no task was given/,
      ends: []
    },
    "goes with a session that goes on": {
      model: [hi, ({ messages }) => Reply.text(messages.at(-1)?.text.includes("more") === true ? "seen" : "lost")],
      script: `dsh run one; echo more | dsh run --continue two`,
      code: 0,
      stdout: /^hi\nseen\n$/,
      stderr: silent
    },
    "and no terminal are no chat": {
      model: [hi],
      script: `dsh chat`,
      code: 2,
      stdout: silent,
      stderr: /^dsh: USAGE: .*terminal.*dsh run/s,
      ends: []
    }
  },
  "a signal": {
    "in an answer ends the turn and says so": {
      model: [Reply.text(["half ", "an answer"], held)],
      script: `start run go; until grep -q half $DSH_HOME/sessions/*/*/session.jsonl 2>/dev/null; do sleep 0.05; done; kill -INT $!; wait $!`,
      code: 130,
      stdout: /^half an answer\n$/,
      stderr: /^/,
      ends: ["aborted"]
    },
    "in a command ends it": {
      model: [bash("touch begun; sleep 600"), hi],
      script: `start run go; until test -e begun; do sleep 0.05; done; kill -TERM $!; wait $!`,
      code: 143,
      stdout: /^\n?$/,
      stderr: /^/,
      ends: ["aborted"]
    },
    "in the wait for a retry ends it": {
      model: [Reply.error(429, { message: "slow down" }, { "retry-after": "100" })],
      script: `start run go 2> err; until grep -q RATE_LIMIT err; do sleep 0.05; done; kill -HUP $!; wait $!`,
      env: { DSH_MAX_RETRIES: "5" },
      code: 129,
      stdout: /^\n?$/,
      stderr: silent,
      ends: ["aborted"]
    },
    "leaves a session that can go on": {
      model: [bash("touch begun; sleep 600"), hi],
      script: `start run go; until test -e begun; do sleep 0.05; done; kill -INT $!; wait $!; echo "code $?"; dsh run --continue "go on"`,
      code: 0,
      stdout: /^\n?code 130\nhi\n$/,
      stderr: /^/
    },
    "is told in JSON": {
      model: [bash("touch begun; sleep 600"), hi],
      script: `start run --json go > out; until test -e begun; do sleep 0.05; done; kill -INT $!; wait $!; code=$?; tail -1 out | jq -r '.type, .status'; exit $code`,
      code: 130,
      stdout: /^result\ncancelled\n$/,
      stderr: /^/,
      ends: ["aborted"]
    }
  },
  "an agent that goes round in circles": {
    "with the same read": {
      model: [read("a.txt")],
      script: `echo a > a.txt; dsh run go`,
      code: 1,
      stdout: /^\n?$/,
      stderr: /^dsh: REPETITION: /m,
      ends: ["aborted"]
    },
    "with the same write": {
      model: [write],
      script: `dsh run go`,
      code: 1,
      stdout: /^\n?$/,
      stderr: /^dsh: REPETITION: /m,
      ends: ["aborted"]
    },
    "with two calls in turn": {
      model: Array.from({ length: 60 }, (_, i) => bash(i % 2 === 0 ? "echo a" : "echo b")),
      script: `dsh run go`,
      code: 1,
      stdout: /^\n?$/,
      stderr: /^dsh: REPETITION: /m,
      ends: ["aborted"]
    },
    "in its thoughts": {
      model: [
        Reply.text("never", {
          reasoning: `Wait, let me think about that again. ${"But what if it is the other way round? ".repeat(4)}
`.repeat(60)
        })
      ],
      script: `dsh run go`,
      code: 1,
      stdout: /^\n?$/,
      stderr: /^dsh: REPETITION_LOOP: /m,
      ends: ["error"]
    },
    "but only waits": {
      model: [...Array.from({ length: 14 }, () => bash("sleep 0.01; echo pending")), Reply.text("ready")],
      script: `dsh run go`,
      code: 0,
      stdout: /^ready\n$/,
      stderr: silent
    }
  },
  "a session": {
    "goes on in its own folder, not where it is called from": {
      model: [
        bash("pwd"),
        hi,
        bash("pwd"),
        ({ messages }) => Reply.text(messages.at(-1)?.text.trim().split("/").at(-1) ?? "")
      ],
      script: `mkdir a b; (cd a; dsh run one); id=$(dsh session list --json | head -1 | jq -r .id); cd b; dsh run --session $id two`,
      code: 0,
      stdout: /^hi\na\b/,
      stderr: /^/
    },
    "of another worktree is not the last one here": {
      model: [hi],
      script: `git init -q a; cd a; git -c user.name=a -c user.email=a commit -q --allow-empty -m a; git worktree add -q ../b; dsh run one; cd ../b; dsh run --continue two`,
      code: 1,
      stdout: /^hi\n$/,
      stderr: /SESSION_NOT_FOUND/
    },
    "whose folder is gone says so": {
      model: [hi],
      script: `mkdir a; (cd a; dsh run one); id=$(dsh session list --json | head -1 | jq -r .id); rmdir a; dsh run --session $id two`,
      code: 3,
      stdout: /^hi\n$/,
      stderr: /^dsh: FOLDER_MISSING: .*\/a\b/m
    },
    "that was killed before its first request goes on": {
      model: [hi],
      script: `dsh run one; f=$(echo $DSH_HOME/sessions/*/*/session.jsonl); head -5 $f > k; cp k $f; dsh run --continue two`,
      code: 0,
      stdout: /^hi\nhi\n$/,
      stderr: silent
    },
    "whose earlier prompt is still there, and fails, fails": {
      model: [hi, Reply.behaviour("auth_error")],
      script: `dsh run one; f=$(echo $DSH_HOME/sessions/*/*/session.jsonl); head -5 $f > k; cp k $f; dsh run --continue two`,
      code: 3,
      stdout: /^hi\n\n?$/,
      stderr: /^dsh: AUTH: /m,
      ends: ["error"]
    },
    "is found through a link to its folder": {
      model: [hi],
      script: `mkdir a; ln -s a l; (cd a; dsh run one); cd l; dsh run --continue two`,
      code: 0,
      stdout: /^hi\nhi\n$/,
      stderr: silent
    }
  },
  "an answer for programs": {
    "has the id in the first line and in the last, and goes on with a schema": {
      model: [hi, Reply.text("no JSON"), Reply.text('{"n":1}')],
      script: `
        echo '{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}' > schema.json
        dsh run --json one > out
        first=$(head -1 out | jq -r .sessionId); last=$(tail -1 out | jq -r .sessionId)
        test "$first" = "$last" || echo different
        dsh run --session $first --output-schema schema.json two`,
      code: 0,
      stdout: /^\{"n":1\}\n$/,
      stderr: /^/
    },
    "that never fits is a failure": {
      model: [Reply.text("prose")],
      script: `echo '{"type":"object"}' > s; dsh run --output-schema s go`,
      code: 1,
      stdout: silent,
      stderr: /OUTPUT_MISMATCH/
    },
    "needs a schema that is one": {
      model: [hi],
      script: `echo '{"type":"nothing"}' > s; dsh run --output-schema s go`,
      code: 3,
      stdout: silent,
      stderr: /schema/,
      ends: []
    }
  },
  "an agent that never has enough": {
    "ends after its steps": {
      model: [busy],
      script: `dsh run --max-steps 5 go`,
      code: 124,
      stdout: /^\n?$/,
      stderr: /BUDGET/,
      ends: ["aborted"]
    },
    "ends when its money is spent": {
      model: [busy],
      script: `dsh settings set 'prices."deepseek-official/deepseek-v4-flash"' '{ currency: USD, input: 1, output: 2 }' 2> /dev/null; dsh run --max-cost 0.0001 go`,
      code: 124,
      stdout: /^\n?$/,
      stderr: /BUDGET/,
      ends: ["aborted"]
    },
    "ends when its time is up": {
      model: [bash("sleep 600")],
      script: `dsh run --timeout 2s go`,
      code: 124,
      stdout: /^\n?$/,
      stderr: /BUDGET/,
      ends: ["aborted"]
    },
    "keeps what it said": {
      model: [
        Reply.toolCalls([{ name: "bash", arguments: { command: "true", description: "nothing" } }], { text: "So far." })
      ],
      script: `dsh run --max-tokens 1 go`,
      code: 124,
      stdout: /^So far\.\n$/,
      stderr: /BUDGET/,
      ends: ["aborted"]
    }
  },
  "what runs in the background": {
    "is ended with the run": {
      model: [bash("sleep 600", { run_in_background: true }), hi],
      script: `dsh run go`,
      code: 0,
      stdout: /^hi\n$/,
      stderr: /background/
    },
    "is waited for when asked": {
      model: [bash("sleep 0.3; echo over > done", { run_in_background: true }), hi],
      script: `dsh run --wait-background go; code=$?; cat done; exit $code`,
      code: 0,
      stdout: /over\n$/,
      stderr: /^/
    }
  },
  "a reader": {
    "that has seen enough is no failure": {
      model: [Reply.text(Array.from({ length: 2000 }, (_, i) => `line ${i}\n`))],
      script: `dsh run go | head -1; echo "code \${PIPESTATUS[0]}"`,
      code: 0,
      stdout: /^line 0\ncode 0\n$/,
      stderr: silent
    },
    "that is slow gets everything": {
      model: [Reply.text(Array.from({ length: 2000 }, (_, i) => `${i} ${"x".repeat(200)}\n`))],
      script: `dsh run go | (sleep 0.5; wc -l)`,
      code: 0,
      stdout: /^\s*200[01]\n$/,
      stderr: silent
    }
  }
}

const ended = (workspace: Workspace.Workspace) =>
  Effect.gen(function* () {
    const listed = yield* workspace.run(["session", "list", "--json"])
    const ids = listed.stdout.split("\n").flatMap((line) => (line === "" ? [] : [String(JSON.parse(line).id)]))
    return ids.reverse().map((id) => {
      const last = workspace.log(id).findLast(({ type }) => type === "turn/end")
      return { id, end: (last?.data?.["reason"] as { readonly kind: string } | undefined)?.kind }
    })
  })

for (const [group, table] of Object.entries(recipes)) {
  describe(`dsh in scripts: ${group}`, () => {
    for (const [what, recipe] of Object.entries(table)) {
      it.scopedLive(what, () =>
        Effect.gen(function* () {
          const workspace = yield* Workspace.make(Script.sequence(recipe.model, "last"))
          const { code, stderr, stdout } = yield* sh(workspace, recipe.script, { env: recipe.env ?? {} })
          assert.strictEqual(code, recipe.code, stderr)
          assert.match(stdout, recipe.stdout)
          assert.match(stderr, recipe.stderr)
          const sessions = yield* ended(workspace)
          assert.deepStrictEqual(
            sessions.map(({ end }) => end),
            [...(recipe.ends ?? ["completed"])]
          )
          for (const { id } of sessions) {
            for (const command of ["check", "verify"]) {
              const { code: sound, stderr: why, stdout: said } = yield* workspace.run(["session", command, id])
              assert.strictEqual(sound, 0, `session ${command}: ${said}${why}`)
            }
          }
          assert.deepStrictEqual(yield* Effect.promise(() => Batches.orphans(workspace.project)), [])
        })
      )
    }
  })
}
