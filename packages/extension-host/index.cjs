// Loads extensions into a process whose own modules are inside of a bundle. No part of one itself: the hooks are a file that Node loads.
"use strict"
const Module = require("node:module")
const { pathToFileURL } = require("node:url")

/** Where the hooks' modules find what they stand for. */
const key = Symbol.for("@dsh/extension-host/shared")

exports.open = (shared) => {
  globalThis[key] = shared
  const names = Object.fromEntries(Object.entries(shared).map(([name, module]) => [name, Object.keys(module)]))
  // In a thread of their own: hooks in this one exist only from Node 22.15 on.
  Module.register("./hooks.mjs", { parentURL: pathToFileURL(__filename), data: { names } })
  return {
    load: (name, folder) =>
      import(`dsh-extension:${encodeURIComponent(JSON.stringify([name, pathToFileURL(folder).href]))}`)
  }
}
