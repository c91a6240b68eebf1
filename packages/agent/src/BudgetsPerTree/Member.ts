/**
 * An agent as one of those that share a budget: what its log says is put on their bill.
 */
import { isRun } from "@dsh/protocol/ChunkRun"
import type { LogEntry } from "@dsh/protocol/ChunkRun"
import * as ContextSize from "@dsh/protocol/ContextSize"
import { Counter } from "@dsh/protocol/UsageTally"
import type { Billed } from "@dsh/protocol/UsageTally"
import type * as Scope from "effect/Scope"
import type { Agent } from "../Agent.ts"
import type { Tree } from "./Tree.ts"

export class Member {
  readonly agent: Agent
  readonly scope: Scope.CloseableScope
  tree: Tree | undefined
  readonly #counter = new Counter((request) => this.tree?.bill(this.#sized(request)))
  #isAnswered = false

  constructor(agent: Agent, scope: Scope.CloseableScope) {
    this.agent = agent
    this.scope = scope
  }

  take(entry: LogEntry): void {
    if (isRun(entry)) return
    if (entry.type === "turn/start" && this.tree !== undefined) this.tree.turns++
    if (entry.type === "step/start" && this.tree !== undefined) {
      this.tree.steps++
      this.tree.entering.delete(this.agent)
    }
    if (entry.type === "turn/end") this.tree?.entering.delete(this.agent)
    if (entry.type === "request/sent") this.#isAnswered = false
    if (entry.type === "assistant/message") this.#isAnswered = true
    this.#counter.take(entry)
  }

  /** A request that failed and of which nobody reported anything is taken to have used nothing. */
  #sized(request: Billed): Billed {
    if (request.usage !== undefined || !this.#isAnswered) return request
    const inputTokens = ContextSize.measure(this.agent.session.conversation).total
    return { ...request, usage: { inputTokens, outputTokens: 0 } }
  }
}
