/**
 * Images for tests.
 */
import type { ContentBlock, ImageBlock } from "@dsh/protocol/Block"
import { PhotonImage } from "@silvia-odwyer/photon-node"

export const picture = (width: number, height: number): PhotonImage =>
  new PhotonImage(new Uint8Array(width * height * 4).fill(255), width, height)

export const isImage = (block: ContentBlock): block is ImageBlock => block.type === "image"
