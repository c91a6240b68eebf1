/**
 * The rules every stream of chunks follows, whatever the provider sent.
 */
import type { StreamChunk } from "@dsh/protocol/StreamChunk"

/** The first rule that is broken, in words. */
export const brokenRule = (chunks: ReadonlyArray<StreamChunk>, hasFailed: boolean): string | undefined => {
  const open = new Set<number>()
  const closed = new Set<number>()
  let usage = 0
  let isFinished = false
  for (const chunk of chunks) {
    if (isFinished) return `a chunk of type ${chunk.type} after the finish`
    switch (chunk.type) {
      case "block-start":
        if (chunk.index !== open.size) return `block ${chunk.index} opened out of turn`
        open.add(chunk.index)
        break
      case "usage":
        if (++usage > 1) return "usage was reported twice"
        break
      case "finish":
        isFinished = true
        break
      case "block-end":
        if (hasFailed && chunk.block.type === "tool-call") return "a failed stream completed a tool call"
        if (closed.has(chunk.index)) return `block ${chunk.index} closed twice`
        closed.add(chunk.index)
        break
      default:
        if (!open.has(chunk.index)) return `a delta for block ${chunk.index}, which was not opened`
        if (closed.has(chunk.index)) return `a delta for block ${chunk.index} after its end`
    }
  }
  if (hasFailed) return isFinished ? "the stream finished and failed" : undefined
  if (!isFinished) return "the stream ended without a finish"
  return closed.size === open.size ? undefined : "a finished stream left a block open"
}
