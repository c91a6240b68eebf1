/**
 * The screen of a GIF. It is never clean, for it may move, and nobody who takes images needs the other pictures.
 */
export const read = (bytes: Buffer) =>
  bytes.length < 13
    ? undefined
    : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), orientation: 1, isClean: false }
