// A parser is two files of WebAssembly, which are found beside the packages that bring them. So this package is no part of a bundle:
// in one, "beside" would be somewhere else.
"use strict"
const { readFileSync } = require("node:fs")
const { Language, Parser } = require("web-tree-sitter")

/** A parser of bash, made anew; nothing of it is loaded before the first call. */
exports.load = async () => {
  await Parser.init()
  const grammar = readFileSync(require.resolve("tree-sitter-bash/tree-sitter-bash.wasm"))
  return new Parser().setLanguage(await Language.load(grammar))
}
