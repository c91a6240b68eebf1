/**
 * `dsh batch`: many tasks.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import type { Choose } from "../Request.ts"

const given = (name: string, value: string, description: string) =>
  Options.text(name).pipe(Options.withPseudoName(value), Options.withDescription(description), Options.optional)

const description = HelpDoc.blocks(
  [
    "Work on many tasks, each by an agent of its own, and print one line of JSON for each that is done.",
    `A task is a line such as {"id": "a", "task": "fix the failing test", "cwd": "packages/a"}; it may have model, preset, permission, sessionId, env and budget, too.`
  ].map((line) => HelpDoc.p(line))
)

export const make = (choose: Choose) =>
  Command.make(
    "batch",
    {
      file: Args.withDescription(Args.text({ name: "FILE" }), "The tasks, one JSON object per line; - is stdin."),
      concurrency: given("concurrency", "N", "How many tasks at a time. Default 1."),
      retry: given("retry", "N", "How often a task goes on after a failure of the provider. Default 0."),
      timeout: given("timeout", "TIME", "End a task after so long, such as 90 (seconds), 10s, 5m or 2h."),
      maxCost: given(
        "max-cost",
        "AMOUNT",
        "End when all of them cost so much, such as 0.50 (US dollars) or 5CNY, with exit code 124."
      ),
      out: given("out", "FILE", "Where results go, with a journal beside it to go on from. Default: stdout."),
      resume: Options.boolean("resume").pipe(
        Options.withDescription("Go on with the batch that --out is of: what is finished is not done again.")
      ),
      isolate: given(
        "isolate",
        "HOW",
        "Give each task a folder of its own: worktree (of git), or copy. Default none: they work in their cwd."
      ),
      model: given("model", "ID", "The model of tasks that name none."),
      permission: given("permission", "PRESET", "How far tools may go, for tasks that do not say."),
      preset: given("preset", "ID", "What kind of agent to start, for tasks that do not say.")
    },
    ({ file, resume, ...options }) => {
      const { concurrency, isolate, maxCost, model, out, permission, preset, retry, timeout } = options
      return choose({
        _tag: "Batch",
        file,
        resume,
        concurrency: Option.getOrUndefined(concurrency),
        isolate: Option.getOrUndefined(isolate),
        maxCost: Option.getOrUndefined(maxCost),
        model: Option.getOrUndefined(model),
        out: Option.getOrUndefined(out),
        permission: Option.getOrUndefined(permission),
        preset: Option.getOrUndefined(preset),
        retry: Option.getOrUndefined(retry),
        timeout: Option.getOrUndefined(timeout)
      })
    }
  ).pipe(Command.withDescription(description))
