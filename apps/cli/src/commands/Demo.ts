/**
 * `dsh demo`: the main job with nothing but Node installed. The model is a script behind a real HTTP server; the agent, its tools,
 * the files and the tests are the ones of every run. It succeeds only if the world really changed.
 */
import * as MockLlm from "@dsh/testing/MockLlm"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { Tools } from "@dsh/tools/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Model from "../demo/Model.ts"
import * as Project from "../demo/Project.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import * as Headless from "../Headless.ts"
import { Output } from "../Output.ts"
import * as StepView from "../StepView.ts"
import * as Work from "../Work.ts"

const task = "The tests of this project fail. Find out why, fix it, and check that they pass."

const broken = (message: string) => new Failure.Failure({ code: "DEMO_FAILED", message, exitCode: ExitCode.failed })

export const run: Command = Effect.gen(function* () {
  const output = yield* Output
  const folder = yield* Project.create
  output.notice(`the project is in ${folder}; this demo runs its own commands there, unconfined`)
  const before = yield* Project.test(folder)
  if (before.passed) return yield* broken(`the tests in ${folder} pass before anything was done`)
  output.notice("its tests fail; an agent with a scripted model sets to work")

  const server = yield* MockLlm.make({ script: Model.script })
  const provider = { apiKey: Redacted.make("demo"), baseUrl: server.url }
  const worked = yield* Effect.gen(function* () {
    const { agent, exitCode } = yield* Work.work({
      task,
      model: undefined,
      from: { _tag: "New" },
      cwd: folder,
      observe: ({ realm }) => StepView.observer(Context.unsafeGet(realm, Tools), output.say)
    })
    return { id: agent.session.id, exitCode, log: yield* (yield* SessionPersistence).locate(agent.session.id) }
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Headless.layer({
        provider,
        permission: "danger-full-access",
        unruled: true
      })
    )
  )

  const after = yield* Project.test(folder)
  if (worked.exitCode !== ExitCode.completed) return worked.exitCode
  if (!after.passed) return yield* broken(`the agent says it is done, and the tests in ${folder} still fail`)
  output.notice("the tests, run again outside the agent, pass")
  if (worked.log !== undefined) output.notice(`everything the model saw is in ${worked.log}`)
  output.notice(`look at it with "dsh session show ${worked.id}", prove it with "dsh session verify ${worked.id}"`)
  return ExitCode.completed
}).pipe(
  Effect.scoped,
  Effect.mapError((error) => (error instanceof Failure.Failure ? error : Failure.fromError(error)))
)
