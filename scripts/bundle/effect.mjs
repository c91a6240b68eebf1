// A rolldown plugin: what effect does while it loads and `dsh run` does not need.

/**
 * What effect finds out while it loads, answered here or put off until somebody asks: for its pretty logger it makes the
 * stream of stdout, and to see whether V8 keeps a frame it writes out a stack, with positions in the whole of a chunk.
 * Together that is a twentieth of the time from start to first request.
 */
const putOff = {
  "effect/dist/esm/internal/logger.js": [
    [`typeof process.stdout === "object" && process.stdout !== null`, `"stdout" in process`],
    ["const processStdoutIsTTY = hasProcessStdout && process.stdout.isTTY === true;", ""],
    ["processStdoutIsTTY ||", "hasProcessStdout && process.stdout.isTTY === true ||"]
  ],
  "effect/dist/esm/Utils.js": [
    [
      `standard.effect_internal_function(() => new Error().stack)?.includes("effect_internal_function") === true`,
      "true"
    ]
  ]
}

export const effect = {
  name: "effect",
  transform: (code, id) => {
    const path = Object.keys(putOff).find((suffix) => id.replaceAll("\\", "/").endsWith(`/node_modules/${suffix}`))
    if (path === undefined) return undefined
    return {
      code: putOff[path].reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`${id} has changed: "${from}" is no longer in it`)
        return text.replace(from, to)
      }, code)
    }
  }
}
