/**
 * Gates of our own: one that says no, one that has a person asked, and who answers.
 */
import type { Json } from "@dsh/kernel/Json"
import { AskApproval, PreExecute } from "@dsh/tools/ToolHooks"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

// #region argument
const argument = (args: Json, name: string): string =>
  typeof args === "object" && args !== null && !Array.isArray(args) && name in args
    ? String(Reflect.get(args, name))
    : ""
// #endregion

// #region deny
/** An agent that may change its tests makes them pass. */
export const testsStay = PreExecute.hook("tests stay", (call, next) =>
  ["edit", "write"].includes(call.name) && argument(call.arguments, "file_path").endsWith(".test.ts")
    ? Effect.succeed({ kind: "deny", reason: "tests are not changed here; change the code that fails them" })
    : next(call)
)
// #endregion

// #region ask
/** What leaves this machine is asked about, unless somebody further in has refused it anyway. */
export const askBeforePush = PreExecute.hook(
  "ask before a push",
  (call, next) =>
    Effect.map(next(call), (decision) =>
      decision.kind === "allow" && /\bgit push\b/.test(argument(call.arguments, "command"))
        ? { kind: "ask", reason: "this publishes commits" }
        : decision
    ),
  { order: -10 }
)

/** Whoever is there to answer; with nobody, the call is denied. */
export const answering = (ask: (question: string) => Effect.Effect<boolean>) =>
  AskApproval.hook("the person at the desk", ({ execution, reason = "" }) =>
    Effect.map(ask(`${execution.name}: ${reason}`), (yes) => Option.some(yes ? "allowed-once" : "rejected"))
  )
// #endregion
