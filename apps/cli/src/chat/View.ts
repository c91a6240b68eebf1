/**
 * What there is to see of a session: a fold of its log. It knows no terminal, and nothing in it can do one harm.
 */
import type { PriceTable } from "@dsh/protocol/Prices"
import { textOf } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import type { UserMessage } from "@dsh/protocol/Message"
import type { EventOf, SessionEvent, TurnEndReason } from "@dsh/protocol/SessionEvent"
import type { Json } from "@dsh/kernel/Json"
import * as UsageTally from "@dsh/protocol/UsageTally"
import * as Bill from "../Bill.ts"
import * as ModelSwitch from "../ModelSwitch.ts"
import * as Safe from "./Safe.ts"

/** What the model says, or thinks, as far as it has come. */
export interface Prose {
  readonly kind: "answer" | "reasoning"
  text: string
  isDone: boolean
}

export interface ToolCall {
  readonly kind: "tool"
  readonly callId: string
  readonly name: string
  /** As the model wrote them. */
  readonly arguments: string
  result: { readonly text: string; readonly isError: boolean; readonly meta?: Json } | undefined
  isDone: boolean
}

export interface Command {
  readonly kind: "command"
  readonly commandId: string
  readonly line: string
  result: { readonly kind: "success" | "error"; readonly text: string } | undefined
  isDone: boolean
}

interface Said {
  /** `head`: what a session is shown under. */
  readonly kind: "head" | "user" | "context" | "notice" | "failure"
  readonly text: string
}

export type Item = Said | Prose | ToolCall | Command

const isDone = (item: Item): boolean => !("isDone" in item) || item.isDone

const endings: Readonly<Partial<Record<TurnEndReason["kind"], string>>> = {
  "max-tokens": "the answer hit the output limit of the model and is cut",
  blocked: "a hook refused this",
  interrupted: "this was interrupted before it was complete"
}

/** What people are told of the end of a turn; nothing of one that is complete. */
const ending = (reason: TurnEndReason): Said | undefined => {
  if (reason.kind === "error") return { kind: "failure", text: `${reason.error.code}: ${reason.error.message}` }
  if (reason.kind === "aborted") {
    const { kind } = reason.reason
    return { kind: "notice", text: kind === "user" ? "cancelled" : `ended early (${kind})` }
  }
  const text = endings[reason.kind]
  return text === undefined ? undefined : { kind: "notice", text }
}

/** What was given to the model beside what people wrote, in a few words. */
const contextOf = ({ content, source }: UserMessage): string => {
  const from =
    source.kind === "plugin" ? (source.summary ?? `context from ${source.plugin}`) : `context (${source.kind})`
  const size = textOf(content).length
  return Safe.oneLine(`${from}, ${size} characters`)
}

const shown = (content: ReadonlyArray<ContentBlock>): string => {
  const images = content.filter(({ type }) => type === "image").length
  const text = Safe.text(textOf(content))
  return images === 0 ? text : `${text}\n[${images === 1 ? "an image" : `${images} images`}]`
}

export class View {
  readonly items: Array<Item> = []
  isRunning = false
  /** Whether what the turn is about has reached it. */
  isBegun = false
  bill: Bill.Bill = Bill.none
  /** What the model is writing a call of, and how much of it there is. */
  drafting: { readonly name: string; readonly size: number } | undefined
  /** What is open of the step that is running, by the number of its block. */
  readonly #open = new Map<number, Prose>()
  readonly #calls = new Map<string, ToolCall>()
  readonly #commands = new Map<string, Command>()
  readonly #counter: UsageTally.Counter

  constructor(prices: PriceTable) {
    this.#counter = new UsageTally.Counter((request) => (this.bill = Bill.add(this.bill, Bill.of(prices, request))))
  }

  /** How many items from the first on will never change again. */
  settled(from = 0): number {
    let end = from
    while (end < this.items.length && isDone(this.items[end]!)) end++
    return end
  }

  /** Something that is not in the log: for whoever sits in front of it now. */
  say(kind: "notice" | "failure", text: string): void {
    this.items.push({ kind, text: Safe.text(text) })
  }

  /** From here on it is shown, below `text`. */
  head(from: number, text: string): void {
    this.items.splice(from, 0, { kind: "head", text: Safe.text(text) })
  }

  take(entry: LogEntry): void {
    if (isRun(entry)) {
      for (const text of entry.texts)
        this.#delta(entry.kind, entry.index, text, "name" in entry ? entry.name : undefined)
      return
    }
    this.#counter.take(entry)
    this.#event(entry)
  }

  #event(event: SessionEvent): void {
    switch (event.type) {
      case "turn/start":
        this.isRunning = true
        this.isBegun = false
        return
      case "turn/end":
        return this.#endTurn(event.data.reason)
      case "user/message":
        return this.#message(event.data)
      case "assistant/chunk":
        return this.#chunk(event)
      case "assistant/message":
        return this.#answer(event)
      case "tool/call":
        return this.#call(event.data)
      case "tool/result":
        return this.#result(event.data)
      case "llm/retry": {
        this.#close()
        const { delayMs, failure, retry } = event.data
        const when = `${(delayMs / 1000).toFixed(1)} s`
        return this.say("notice", `${failure.code}: ${failure.message}; retry ${retry} in ${when}`)
      }
      case "llm/fallback":
        this.#close()
        return this.say("notice", ModelSwitch.text(event.data))
      case "command/run": {
        const { args, commandId, name } = event.data
        const line = Safe.text(args === undefined ? `/${name}` : `/${name} ${args}`)
        return this.#begin({ kind: "command", commandId, line, result: undefined, isDone: false })
      }
      case "command/done":
        return this.#done(event.data)
      case "session/rewound": {
        const { turn } = event.data
        const until = turn === 0 ? "nothing of what was said" : `what was said up to the end of turn ${turn}`
        return this.say("notice", `the model sees ${until}`)
      }
      case "session/lost":
        return this.say("notice", `event ${event.seq} of the log is lost`)
    }
  }

  #delta(kind: string, index: number, text: string, name?: string): void {
    if (kind === "tool-call-delta") {
      this.drafting = {
        name: Safe.oneLine(name ?? this.drafting?.name ?? ""),
        size: (this.drafting?.size ?? 0) + text.length
      }
      return
    }
    let prose = this.#open.get(index)
    if (prose === undefined) {
      prose = { kind: kind === "reasoning-delta" ? "reasoning" : "answer", text: "", isDone: false }
      // A block is begun when the one before it is written.
      this.#close()
      this.#open.set(index, prose)
      this.items.push(prose)
    }
    const [ready, rest] = Safe.complete(this.#unread + text)
    this.#unread = rest
    prose.text += Safe.text(ready)
  }

  #chunk({ data: { chunk } }: EventOf<"assistant/chunk">): void {
    if (chunk.type === "text-delta" || chunk.type === "reasoning-delta")
      this.#delta(chunk.type, chunk.index, chunk.text)
    else if (chunk.type === "tool-call-delta") this.#delta(chunk.type, chunk.index, chunk.argumentsDelta, chunk.name)
    else if (chunk.type === "finish") this.drafting = undefined
  }

  /** What was streamed stands there already. */
  #answer({ data: { interrupted, message } }: EventOf<"assistant/message">): void {
    this.#close()
    const isStreamed = this.#isStreamed
    this.#isStreamed = false
    if (!isStreamed) {
      for (const block of message.content) {
        if (block.type !== "text" && block.type !== "reasoning") continue
        if (block.text.trim() === "") continue
        const kind = block.type === "text" ? "answer" : "reasoning"
        this.items.push({ kind, text: Safe.text(block.text), isDone: true })
      }
    }
    if (interrupted === true) this.say("notice", "the answer was interrupted here")
  }

  #isStreamed = false
  /** Of a sequence that is not complete yet. */
  #unread = ""

  #close(): void {
    this.#unread = ""
    if (this.#open.size > 0) this.#isStreamed = true
    for (const prose of this.#open.values()) prose.isDone = true
    this.#open.clear()
    this.drafting = undefined
  }

  #message(message: UserMessage): void {
    if (message.source.kind === "user") {
      this.isBegun = true
      this.items.push({ kind: "user", text: shown(message.content) })
    } else this.items.push({ kind: "context", text: contextOf(message) })
  }

  #call({ arguments: raw, callId, name }: EventOf<"tool/call">["data"]): void {
    const call: ToolCall = { kind: "tool", callId, name, arguments: raw, result: undefined, isDone: false }
    this.#calls.set(callId, call)
    this.items.push(call)
  }

  #result({ message, meta }: EventOf<"tool/result">["data"]): void {
    const [block] = message.content
    const call = this.#calls.get(block.toolCallId)
    if (call === undefined) return
    const text = shown(block.content)
    call.result = { text, isError: block.isError === true, ...(meta !== undefined && { meta }) }
    call.isDone = true
    this.#calls.delete(block.toolCallId)
  }

  #begin(command: Command): void {
    this.#commands.set(command.commandId, command)
    this.items.push(command)
  }

  #done({ commandId, kind, text = "" }: EventOf<"command/done">["data"]): void {
    const command = this.#commands.get(commandId)
    if (command === undefined) return
    command.result = { kind, text: Safe.text(text) }
    command.isDone = true
    this.#commands.delete(commandId)
  }

  /** Nothing of what was taken goes on: whoever was at it is gone. */
  abandon(): void {
    this.#counter.end()
    this.#close()
    this.#isStreamed = false
    this.isRunning = false
    for (const open of [...this.#calls.values(), ...this.#commands.values()]) open.isDone = true
    this.#calls.clear()
    this.#commands.clear()
  }

  #endTurn(reason: TurnEndReason): void {
    this.#counter.end()
    this.#close()
    this.#isStreamed = false
    this.isRunning = false
    for (const call of this.#calls.values()) call.isDone = true
    this.#calls.clear()
    const end = ending(reason)
    if (end !== undefined) this.items.push({ ...end, text: Safe.text(end.text) })
  }
}
