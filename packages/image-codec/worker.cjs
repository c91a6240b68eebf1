// One job, one answer; see index.d.cts. What the job does to memory ends with the thread.
"use strict"
const { parentPort, workerData } = require("node:worker_threads")
const photon = require("@silvia-odwyer/photon-node")

const qualities = [85, 75, 60, 45]
const smallestEdge = 64

/** As Exif numbers them: where the pixel that is seen at (x, y) is in a picture that is stored as `width` by `height`. */
const sources = {
  2: (x, y, width) => [width - 1 - x, y],
  3: (x, y, width, height) => [width - 1 - x, height - 1 - y],
  4: (x, y, _, height) => [x, height - 1 - y],
  5: (x, y) => [y, x],
  6: (x, y, _, height) => [y, height - 1 - x],
  7: (x, y, width, height) => [width - 1 - y, height - 1 - x],
  8: (x, y, width) => [width - 1 - y, x]
}

const upright = (image, orientation) => {
  const source = sources[orientation]
  if (source === undefined) return image
  const [width, height] = [image.get_width(), image.get_height()]
  const isTurned = orientation >= 5
  const [seenWidth, seenHeight] = isTurned ? [height, width] : [width, height]
  const raw = image.get_raw_pixels()
  const from = new Uint32Array(raw.buffer, raw.byteOffset, width * height)
  const to = new Uint32Array(width * height)
  for (let y = 0; y < seenHeight; y++) {
    for (let x = 0; x < seenWidth; x++) {
      const [sx, sy] = source(x, y, width, height)
      to[y * seenWidth + x] = from[sy * width + sx]
    }
  }
  image.free()
  return new photon.PhotonImage(new Uint8Array(to.buffer), seenWidth, seenHeight)
}

/** Not larger than `maxEdge` on either side. */
const shrunk = (image, maxEdge) => {
  const [width, height] = [image.get_width(), image.get_height()]
  const scale = maxEdge / Math.max(width, height)
  if (scale >= 1) return image
  const side = (length) => Math.max(1, Math.round(length * scale))
  const smaller = photon.resize(image, side(width), side(height), photon.SamplingFilter.CatmullRom)
  image.free()
  return smaller
}

/** JPEG has no transparency: what shines through is white. */
const opaque = (image) => {
  const raw = image.get_raw_pixels()
  let isOpaque = true
  for (let at = 3; at < raw.length; at += 4) {
    const alpha = raw[at]
    if (alpha === 255) continue
    isOpaque = false
    for (let channel = at - 3; channel < at; channel++) {
      raw[channel] = Math.round((raw[channel] * alpha + 255 * (255 - alpha)) / 255)
    }
    raw[at] = 255
  }
  return isOpaque ? image : new photon.PhotonImage(raw, image.get_width(), image.get_height())
}

/** The first encoding that is small enough: without loss if it may be, then with more and more of it, then of fewer pixels. */
const encoded = (image, { format, maxBytes }) => {
  if (format === "png") {
    const bytes = image.get_bytes()
    if (bytes.length <= maxBytes) return { bytes, mediaType: "image/png", image }
  }
  let current = opaque(image)
  for (;;) {
    for (const quality of qualities) {
      const bytes = current.get_bytes_jpeg(quality)
      if (bytes.length <= maxBytes) return { bytes, mediaType: "image/jpeg", image: current }
    }
    const edge = Math.floor(Math.max(current.get_width(), current.get_height()) * 0.75)
    if (edge < smallestEdge) return undefined
    current = shrunk(current, edge)
  }
}

const run = (job) => {
  let decoded
  try {
    decoded = photon.PhotonImage.new_from_byteslice(job.bytes)
  } catch (cause) {
    return { kind: "undecodable", reason: String(cause) }
  }
  const isTurned = job.orientation >= 5
  const [width, height] = [decoded.get_width(), decoded.get_height()]
  const original = { originalWidth: isTurned ? height : width, originalHeight: isTurned ? width : height }
  if (job.isClean && Math.max(width, height) <= job.maxEdge && job.bytes.length <= job.maxBytes) {
    return { kind: "done", bytes: null, mediaType: null, width, height, ...original }
  }
  const result = encoded(upright(shrunk(decoded, job.maxEdge), job.orientation), job)
  if (result === undefined) return { kind: "too-large" }
  const { bytes, image, mediaType } = result
  return { kind: "done", bytes, mediaType, width: image.get_width(), height: image.get_height(), ...original }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has a port, not a window
parentPort.postMessage(run(workerData))
