// The codecs are WebAssembly, found beside the package that brings them, and a worker is a file. So this package is no part of a
// bundle, and nothing of the codecs is loaded in the thread of whoever asks for it.
"use strict"
const { join } = require("node:path")

exports.program = join(__dirname, "worker.cjs")
