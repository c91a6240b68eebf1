/**
 * From the events of pi-ai to the pieces of an answer, which are only the deltas: what comes whole is used where nothing came in pieces.
 */
import type { AnswerWriter } from "@dsh/llm/AnswerWriter"
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai"
import type { Api } from "./Profile.ts"
import type { Streamed } from "./Replay.ts"

/** What pi-ai puts behind each part of a summary, also behind the last one. */
const separator = "\n\n"

export class Pieces {
  readonly #writer: AnswerWriter
  readonly #api: Api
  /** Characters taken of each part, by its position. */
  readonly #lengths: Array<number> = []
  readonly #ids = new Set<string>()
  #content: AssistantMessage["content"] = []
  #isSeparated = false

  constructor(writer: AnswerWriter, api: Api) {
    this.#writer = writer
    this.#api = api
  }

  take(event: AssistantMessageEvent): void {
    if ("partial" in event) this.#content = event.partial.content
    switch (event.type) {
      case "text_delta":
        return this.#text(event.contentIndex, event.delta)
      case "text_end":
        if (this.#isSilent(event.contentIndex)) this.#text(event.contentIndex, event.content)
        return
      case "thinking_delta":
        return this.#thinking(event.contentIndex, event.delta)
      case "thinking_end":
        if (this.#isSilent(event.contentIndex)) this.#reasoning(event.contentIndex, event.content)
        return
      case "toolcall_start":
        return this.#call(event.contentIndex)
      case "toolcall_delta":
        return this.#arguments(event.contentIndex, event.delta)
      case "toolcall_end":
        // pi-ai's own JSON, for want of the model's: no piece of it ever came.
        if (this.#isSilent(event.contentIndex) && Object.keys(event.toolCall.arguments).length > 0)
          this.#arguments(event.contentIndex, JSON.stringify(event.toolCall.arguments))
    }
  }

  /** The parts of the whole answer. */
  streamed(): ReadonlyArray<Streamed> {
    return this.#content.map((native, index) => ({ native, length: this.#lengths[index] ?? 0 }))
  }

  #isSilent(index: number): boolean {
    return (this.#lengths[index] ?? 0) === 0
  }

  #text(index: number, piece: string): void {
    this.#add(index, piece)
    this.#writer.text(piece)
  }

  #thinking(index: number, piece: string): void {
    if (this.#api !== "openai-responses") return this.#reasoning(index, piece)
    if (this.#isSeparated) this.#reasoning(index, separator)
    this.#isSeparated = piece === separator
    if (!this.#isSeparated) this.#reasoning(index, piece)
  }

  #reasoning(index: number, piece: string): void {
    this.#add(index, piece)
    this.#writer.reasoning(piece)
  }

  #call(index: number): void {
    const call = this.#content[index]
    if (call?.type !== "toolCall") return
    // The responses API has two ids; the one that results are matched by comes first.
    const [id = ""] = call.id.split("|")
    const isNew = !this.#ids.has(id)
    this.#ids.add(id)
    this.#writer.toolCall({ index, ...(isNew && { id }), function: { name: call.name } })
  }

  #arguments(index: number, piece: string): void {
    this.#add(index, piece)
    this.#writer.toolCall({ index, function: { arguments: piece } })
  }

  #add(index: number, piece: string): void {
    this.#lengths[index] = (this.#lengths[index] ?? 0) + piece.length
  }
}
