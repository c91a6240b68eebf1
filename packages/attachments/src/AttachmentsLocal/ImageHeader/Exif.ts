/**
 * The one thing in Exif that changes how a picture looks.
 */
const orientationTag = 0x0112

/** From 1 to 8; undefined if it is not said. */
export const orientation = (tiff: Buffer): number | undefined => {
  if (tiff.length < 14) return undefined
  const order = tiff.toString("latin1", 0, 2)
  if (order !== "II" && order !== "MM") return undefined
  const short = (at: number) => (order === "II" ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = order === "II" ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (directory + 2 > tiff.length) return undefined
  const count = short(directory)
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + i * 12
    if (entry + 12 > tiff.length) return undefined
    if (short(entry) !== orientationTag) continue
    const value = short(entry + 8)
    return value >= 1 && value <= 8 ? value : undefined
  }
  return undefined
}
