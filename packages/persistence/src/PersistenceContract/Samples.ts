/**
 * Small logs to store.
 */
import type { ChunkRun, LogEntry } from "@dsh/protocol/ChunkRun"
import { CallId, MessageId, SessionId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { SessionEvent } from "@dsh/protocol/SessionEvent"
import { formatVersion } from "@dsh/protocol/SessionHeader"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"

export const id = SessionId("a-session")

export const header = (fields: Partial<SessionHeader> = {}): SessionHeader => ({
  version: formatVersion,
  id,
  createdAt: 1_700_000_000_000,
  cwd: "/home/ada/project",
  ...fields
})

/** The header as it is read back. */
export const asStored = (given: SessionHeader): SessionHeader => ({ delegationDepth: 0, ...given })

const time = (seq: number): number => 1_700_000_001_000 + seq

/** A turn with a user message and its answer: six events from `seq` on. */
export const turn = (seq: number, number: number): ReadonlyArray<SessionEvent> => [
  { type: "turn/start", seq, time: time(seq), data: { turn: number } },
  { type: "step/start", seq: seq + 1, time: time(seq + 1), data: { turn: number, step: 1 } },
  {
    type: "user/message",
    seq: seq + 2,
    time: time(seq + 2),
    data: Message.user(MessageId(`user-${number}`), 'say "hé\n" \u2028 \ud83d\ude00 \ud800'),
    surfaceOp: "append"
  },
  {
    type: "assistant/message",
    seq: seq + 3,
    time: time(seq + 3),
    data: {
      turn: number,
      step: 1,
      message: {
        id: MessageId(`assistant-${number}`),
        role: "assistant",
        content: [{ type: "text", text: "hé" }],
        source: { kind: "model", provider: "scripted", model: "one" }
      },
      usage: { inputTokens: 12, outputTokens: 3 }
    },
    surfaceOp: "append",
    sourceEventSeqs: []
  },
  { type: "step/end", seq: seq + 4, time: time(seq + 4), data: { turn: number, step: 1 } },
  { type: "turn/end", seq: seq + 5, time: time(seq + 5), data: { turn: number, reason: { kind: "completed" } } }
]

export const turnLength = 6

/** Five deltas, one of them earlier than the one before. */
export const textRun = (seq: number): ChunkRun => ({
  kind: "text-delta",
  turn: 1,
  step: 1,
  index: 0,
  seq,
  times: [time(seq), time(seq + 40), time(seq + 10), time(seq + 10), time(seq + 90)],
  texts: ["He", "l", "lo", "", " \u{1f600}"]
})

/** Two deltas: fewer than make a row. */
export const toolCallRun = (seq: number): ChunkRun => ({
  kind: "tool-call-delta",
  turn: 1,
  step: 1,
  index: 1,
  id: CallId("call-1"),
  name: undefined,
  seq,
  times: [time(seq), time(seq + 1)],
  texts: ['{"a', '":1}']
})

/** Every shape an entry can have: 13 events. */
export const mixed: ReadonlyArray<LogEntry> = [
  { type: "turn/start", seq: 0, time: time(0), data: { turn: 1 } },
  { type: "step/start", seq: 1, time: time(1), data: { turn: 1, step: 1 } },
  {
    type: "assistant/chunk",
    seq: 2,
    time: time(2),
    data: { turn: 1, step: 1, chunk: { type: "block-start", index: 0, blockType: "text" } }
  },
  textRun(3),
  toolCallRun(8),
  {
    type: "assistant/chunk",
    seq: 10,
    time: -5,
    data: { turn: 1, step: 1, chunk: { type: "finish", reason: { kind: "stop" } } }
  },
  { type: "step/end", seq: 11, time: time(11), data: { turn: 1, step: 1 } },
  { type: "turn/end", seq: 12, time: time(12), data: { turn: 1, reason: { kind: "completed" } } }
]
