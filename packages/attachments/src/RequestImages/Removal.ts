/**
 * Images of a conversation, and words in the place of some of them. What the model sees is in the log, so leaving an image out of
 * requests is an event, like everything else.
 */
import type { ContentBlock, ImageBlock } from "@dsh/protocol/Block"
import type { Session } from "@dsh/session/Session"
import type { SessionError } from "@dsh/session/SessionError"
import * as Effect from "effect/Effect"

type Node = Session["conversation"]["nodes"][number]

/** A message of the user or a result of a tool, and the images in it. */
export interface Shown {
  readonly node: Exclude<Node, { readonly type: "assistant/message" }>
  readonly images: ReadonlyArray<ImageBlock>
}

/** In order; only those with images. */
export const shownIn = (session: Session): ReadonlyArray<Shown> =>
  session.conversation.nodes.flatMap((node): ReadonlyArray<Shown> => {
    if (node.type === "assistant/message") return []
    const images = imagesIn(contentOf(node))
    return images.length === 0 ? [] : [{ node, images }]
  })

/** From now on the message has words for its images; the event before it stays in the log. */
export const replace = (
  session: Session,
  { node }: Shown,
  wordsFor: (image: ImageBlock) => string
): Effect.Effect<void, SessionError> => {
  const options = {
    surfaceOp: { op: "replace", start: node.seq, end: node.seq },
    sourceEventSeqs: [node.seq]
  } as const
  if (node.type === "user/message") {
    const content = node.data.content.map((block) => inWords(block, wordsFor))
    return Effect.asVoid(session.append("user/message", { ...node.data, content }, options))
  }
  const [result] = node.data.message.content
  const content = result.content.map((block) => inWords(block, wordsFor))
  const message = { ...node.data.message, content: [{ ...result, content }] } as const
  return Effect.asVoid(session.append("tool/result", { ...node.data, message }, options))
}

export const describe = ({ attachment: { height, id, mediaType, width } }: ImageBlock): string =>
  `${id} (${mediaType}${width === undefined || height === undefined ? "" : `, ${width}x${height}`})`

const contentOf = (node: Shown["node"]): ReadonlyArray<ContentBlock> =>
  node.type === "user/message" ? node.data.content : node.data.message.content[0].content

const imagesIn = (content: ReadonlyArray<ContentBlock>): ReadonlyArray<ImageBlock> =>
  content.filter((block): block is ImageBlock => block.type === "image")

const inWords = (block: ContentBlock, wordsFor: (image: ImageBlock) => string): ContentBlock =>
  block.type === "image" ? { type: "text", text: wordsFor(block) } : block
