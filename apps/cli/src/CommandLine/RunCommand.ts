/**
 * `dsh run`: one task.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Request from "../Request.ts"

const given = (name: string, value: string, description: string) =>
  Options.text(name).pipe(Options.withPseudoName(value), Options.withDescription(description), Options.optional)

const flag = (name: string, description: string) => Options.boolean(name).pipe(Options.withDescription(description))

export const make = (choose: Request.Choose) =>
  Command.make(
    "run",
    {
      words: Args.text({ name: "task" }).pipe(
        Args.withDescription("What to do, in words. What is piped in is added to it; without words it is the task."),
        Args.repeated
      ),
      file: given("file", "FILE", "Take the task from a file; - is stdin. Words before it are added."),
      cwd: given("cwd", "DIR", "Work in this folder instead of the current one."),
      model: given("model", "ID", "The model to use. Default: that of the session, else the provider's."),
      preset: given("preset", "ID", "What kind of agent to start. Default: as the settings say, else standard."),
      permission: given(
        "permission",
        "PRESET",
        "How far tools may go: read-only, workspace-write or danger-full-access."
      ),
      last: flag("continue", "Go on with the last session of this folder."),
      session: given("session", "ID", "Go on with this session."),
      fork: given("fork", "ID[@SEQ]", "Go on with a copy of this session, or of its events up to SEQ."),
      maxSteps: given("max-steps", "N", "End after so many requests to the model, with exit code 124."),
      maxTokens: given("max-tokens", "N", "End when so many tokens were used, in and out, with exit code 124."),
      maxCost: given(
        "max-cost",
        "AMOUNT",
        "End when it cost so much, such as 0.50 (US dollars) or 5CNY, with exit code 124."
      ),
      timeout: given("timeout", "TIME", "End after so long, such as 90 (seconds), 10s, 5m or 2h, with exit code 124."),
      json: flag("json", "Print what happens as JSON, one object per line; the last one is the result."),
      outputSchema: given("output-schema", "FILE", "The answer has to be JSON that fits this JSON Schema."),
      outputRetries: given(
        "output-retries",
        "N",
        "How often an answer that does not fit is asked for again. Default 2."
      ),
      waitBackground: flag("wait-background", "Wait for what is left running in the background."),
      usage: flag("usage", "Say on stderr how many tokens it took, as is done in a terminal."),
      checkInvariants: flag("check-invariants", "Refuse what would break a rule of the session log; for bug reports.")
    },
    ({ fork, last, maxCost, maxSteps, maxTokens, session, timeout, ...rest }) => {
      const { cwd, file, model, outputRetries, outputSchema, permission, preset, ...same } = rest
      return choose({
        _tag: "Run",
        ...same,
        model: Option.getOrUndefined(model),
        from: Request.from({ session: Option.getOrUndefined(session), fork: Option.getOrUndefined(fork), last }),
        limits: {
          maxSteps: Option.getOrUndefined(maxSteps),
          maxTokens: Option.getOrUndefined(maxTokens),
          maxCost: Option.getOrUndefined(maxCost),
          timeout: Option.getOrUndefined(timeout)
        },
        cwd: Option.getOrUndefined(cwd),
        file: Option.getOrUndefined(file),
        outputSchema: Option.getOrUndefined(outputSchema),
        outputRetries: Option.getOrUndefined(outputRetries),
        permission: Option.getOrUndefined(permission),
        preset: Option.getOrUndefined(preset)
      })
    }
  ).pipe(Command.withDescription("Work on one task until it is done, print the answer and exit."))
