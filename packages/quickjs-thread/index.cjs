// The engine is WebAssembly, found beside the package that brings it, and a worker is a file. So this package is no part of a bundle,
// and nothing of the engine is loaded in the thread of whoever asks for it.
"use strict"
const { join } = require("node:path")

exports.program = join(__dirname, "worker.cjs")
