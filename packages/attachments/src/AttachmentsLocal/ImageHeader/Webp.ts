/**
 * The first chunk of a WebP: a plain picture, one without loss, or the extended form.
 */
export const read = (bytes: Buffer) => {
  if (bytes.length < 30) return undefined
  // Nothing behind what the container says is in it.
  const isWhole = bytes.readUInt32LE(4) + 8 === bytes.length
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return {
        width: bytes.readUInt16LE(26) & 0x3fff,
        height: bytes.readUInt16LE(28) & 0x3fff,
        orientation: 1,
        isClean: isWhole
      }
    case "VP8L": {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, orientation: 1, isClean: isWhole }
    }
    case "VP8X": {
      // Of its flags only that for transparency says nothing beside the picture.
      const isPlain = ((bytes[20] ?? 0) & ~0x10) === 0
      return {
        width: bytes.readUIntLE(24, 3) + 1,
        height: bytes.readUIntLE(27, 3) + 1,
        orientation: 1,
        isClean: isWhole && isPlain
      }
    }
    default:
      return undefined
  }
}
