/**
 * What is logged of a long result of a call that a program made: its beginning and its end. The program had all of it.
 */
import * as Text from "@dsh/kernel/Text"
import { text } from "@dsh/protocol/Block"
import type { ContentBlock } from "@dsh/protocol/Block"

/** Of either end, in bytes. */
const kept = 8192

export const shortened = (block: ContentBlock): ContentBlock => {
  if (block.type !== "text") return block
  const { head, omittedBytes, tail } = Text.retainBytes(block.text, kept, kept)
  return omittedBytes === 0 ? block : text(`${head}\n[${omittedBytes} bytes are not logged]\n${tail}`)
}
