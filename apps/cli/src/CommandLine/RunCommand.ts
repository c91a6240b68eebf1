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

export const make = (choose: Request.Choose) =>
  Command.make(
    "run",
    {
      words: Args.text({ name: "task" }).pipe(
        Args.withDescription("What to do, in words. Left out: read from stdin."),
        Args.repeated
      ),
      model: given("model", "ID", "The model to use. Default: that of the session, else the provider's."),
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
      permission: given(
        "permission",
        "PRESET",
        "How far tools may go: read-only, workspace-write or danger-full-access."
      ),
      preset: given("preset", "ID", "What kind of agent to start. Default: as the settings say, else standard."),
      last: Options.boolean("continue").pipe(Options.withDescription("Go on with the last session of this folder.")),
      checkInvariants: Options.boolean("check-invariants").pipe(
        Options.withDescription("Refuse what would break a rule of the session log; for bug reports.")
      ),
      usage: Options.boolean("usage").pipe(
        Options.withDescription("Say on stderr how many tokens it took, as is done in a terminal.")
      )
    },
    ({
      checkInvariants,
      fork,
      last,
      maxCost,
      maxSteps,
      maxTokens,
      model,
      permission,
      preset,
      session,
      timeout,
      usage,
      words
    }) =>
      choose({
        _tag: "Run",
        words,
        model: Option.getOrUndefined(model),
        from: Request.from({ session: Option.getOrUndefined(session), fork: Option.getOrUndefined(fork), last }),
        limits: {
          maxSteps: Option.getOrUndefined(maxSteps),
          maxTokens: Option.getOrUndefined(maxTokens),
          maxCost: Option.getOrUndefined(maxCost),
          timeout: Option.getOrUndefined(timeout)
        },
        permission: Option.getOrUndefined(permission),
        preset: Option.getOrUndefined(preset),
        checkInvariants,
        usage
      })
  ).pipe(Command.withDescription("Work on one task until it is done, print the answer and exit."))
