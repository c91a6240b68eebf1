// What is left of a turn when a tool call fails, or when the end of something cannot be logged.
import * as AgentHooks from "@dsh/agent/AgentHooks"
import { LlmError } from "@dsh/llm/LlmError"
import * as LlmScripted from "@dsh/llm/LlmScripted"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import { ToolError } from "@dsh/tools/ToolError"
import * as ToolHooks from "@dsh/tools/ToolHooks"
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { answer, answered, asked, check, hookFailed, inStep, notStored, sent, wentOn } from "./faults.ts"
import type { Row } from "./faults.ts"
import { once } from "./support.ts"

const { Reply } = LlmScripted
const toolFailed = Effect.fail(new ToolError({ code: "POLICY_DOWN", message: "not now" }))
const echo = [Reply.calls([{ name: "echo", arguments: { text: "x" } }])]

const rows: ReadonlyArray<Row> = [
  {
    fault: "the body of a tool dies",
    replies: [Reply.calls([{ name: "broken", arguments: {} }]), ...answer],
    log: [
      ...asked.slice(0, -1),
      "assistant <broken>",
      "call call_0",
      "result call_0 Error: kaboom",
      ...wentOn,
      "end turn 1 completed"
    ],
    heard: []
  },
  {
    fault: "a tool policy fails",
    broken: () => ToolHooks.PreExecute.hook("broken", () => toolFailed),
    replies: [...echo, ...answer],
    log: [...asked, "call call_0", "result call_0 POLICY_DOWN", ...wentOn, "end turn 1 completed"],
    heard: []
  },
  {
    fault: "the checkpoint before the tool fails",
    broken: () => ToolHooks.Execute.hook("broken", () => Effect.fail(new ToolError(notStored)), { order: -1000 }),
    replies: [...echo, ...answer],
    log: [...asked, "call call_0", "result call_0 CHECKPOINT_FAILED", ...wentOn, "end turn 1 completed"],
    heard: []
  },
  {
    fault: "nobody knows the tool",
    replies: [Reply.calls([{ name: "nobody", arguments: {} }]), ...answer],
    log: [
      ...asked.slice(0, -1),
      "assistant <nobody>",
      "call call_0",
      "result call_0 UNKNOWN_TOOL",
      ...wentOn,
      "end turn 1 completed"
    ],
    heard: []
  },
  {
    fault: "tool/call is refused",
    refused: "tool/call",
    replies: echo,
    log: [...asked, "call call_0", "result call_0 TOOL_NOT_STARTED", ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "tool/result is refused",
    refused: "tool/result",
    replies: echo,
    log: [...asked, "call call_0", "result call_0 TOOL_OUTCOME_UNKNOWN", ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "tool/result is refused for good",
    refused: "tool/result",
    times: Infinity,
    replies: echo,
    log: [...asked, "call call_0"],
    heard: ["1.1 INVARIANT", "1.1 SESSION_BROKEN"],
    breaks: true
  },
  {
    fault: "what a tool hook tells the model is refused",
    refused: (event) => event.type === "agent/inbox/spliced" && event.data.target === "next-step",
    broken: () =>
      ToolHooks.PostExecute.hook("tell", () =>
        Effect.succeed({
          kind: "accept",
          additionalContexts: [Message.fromPlugin(MessageId("extra"), "by the way", { plugin: "test" })]
        })
      ),
    replies: echo,
    log: [...asked, "call call_0", "result call_0 x", ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "step/end is refused",
    refused: "step/end",
    replies: answer,
    log: [...answered, ...inStep],
    heard: ["1.1 INVARIANT"]
  },
  {
    fault: "step/end of a failed step is refused",
    refused: "step/end",
    replies: [Reply.fail(new LlmError({ code: "SERVER", message: "down for now" }))],
    log: [...sent, "chunk finish", ...inStep],
    heard: ["1.1 SERVER"],
    offered: ["scripted SERVER"]
  },
  {
    fault: "step/end is refused for good",
    refused: "step/end",
    times: Infinity,
    replies: answer,
    log: answered,
    heard: ["1.1 INVARIANT", "1.1 SESSION_BROKEN"],
    breaks: true
  },
  {
    fault: "a stopping hook fails",
    broken: () => {
      const failing = once(hookFailed)
      return AgentHooks.TurnStopping.hook("broken", () => failing(Effect.void))
    },
    replies: answer,
    log: [...answered, ...inStep],
    heard: ["1.0 HOOK_FAILED"]
  },
  {
    fault: "turn/end is refused",
    refused: "turn/end",
    replies: answer,
    log: [...answered, ...inStep],
    heard: ["1.0 INVARIANT"]
  },
  {
    fault: "turn/end is refused for good",
    refused: "turn/end",
    times: Infinity,
    replies: answer,
    log: [...answered, "end step 1"],
    heard: ["1.0 SESSION_BROKEN"],
    breaks: true
  }
]

describe("what is left of a turn when", () => {
  for (const row of rows) it.scoped(row.fault, () => check(row))
})

describe("without anybody who holds rules against the log, the same is left when", () => {
  for (const row of rows) it.scoped(row.fault, () => check(row, Layer.empty))
})
