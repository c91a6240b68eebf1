/**
 * Whether markup is repeated from the conversation rather than written to call a tool.
 *
 * A file that is asked about may hold the markup of a call, which a model then shows; whoever wrote the file must not get it run. A real
 * call leaves no markup in the conversation, so what stands there word for word is a quotation.
 */
import type { ContentBlock } from "@dsh/protocol/Block"
import type { Message } from "@dsh/protocol/Message"
import * as Tag from "./Tag.ts"

/** Tells whether every line of a text stands in these messages. Reads them when it is asked, which is hardly ever. */
export const within =
  (messages: ReadonlyArray<Message>) =>
  (markup: string): boolean => {
    const said = Tag.canonical(messages.map(({ content }) => textOf(content)).join("\n"))
    const lines = Tag.canonical(markup).split("\n")
    return lines.every((line) => said.includes(line.trim()))
  }

const textOf = (content: ReadonlyArray<ContentBlock>): string => content.map(wordsOf).join("\n")

const wordsOf = (block: ContentBlock): string => {
  switch (block.type) {
    case "text":
    case "reasoning":
      return block.text
    case "tool-result":
      return textOf(block.content)
    case "tool-call":
      return block.arguments.replace(/\\(["nt])/g, (_, escaped: string) => (escaped === '"' ? '"' : "\n"))
    default:
      return ""
  }
}
