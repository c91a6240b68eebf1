// From the body of an async function in TypeScript to a JavaScript expression that is that function. Lines stay where they are.
"use strict"
const vm = require("node:vm")

const filename = "run_code.ts"

const wrapped = (code) => `(async () => {"use strict";${code}\n})`

/** `f<T>(x)` is JavaScript as well, and means something else there. */
const mayHaveTypeArguments = (source) => {
  const first = source.indexOf("<")
  return first !== -1 && /[^=]>\s*[(`]/.test(source.slice(first))
}

/** Loading the compiler takes longer than most programs, and most programs do not need it. Nothing is run here. */
const isJavaScript = (source) => {
  if (mayHaveTypeArguments(source)) return false
  try {
    void new vm.Script(source, { filename })
    return true
  } catch {
    return false
  }
}

const reason = (error) => {
  const message = typeof error?.message === "string" ? error.message : "it is too deeply nested"
  const line = Number.isInteger(error?.startLine) ? ` (line ${error.startLine})` : ""
  if (error?.code === "UnsupportedSyntax") {
    return `${message}${line}; only types that can be erased are allowed: use plain objects and modules of functions instead`
  }
  return `SyntaxError: ${message}${line}`
}

/** Throws an Error that says why the program cannot be one. */
exports.strip = (code) => {
  const source = wrapped(code)
  if (isJavaScript(source)) return source
  let compile
  try {
    const { transformSync } = require("@swc/wasm-typescript")
    compile = transformSync
    return compile(source, { mode: "strip-only", filename, deprecatedTsModuleAsError: true }).code
  } catch (error) {
    throw new Error(compile === undefined ? `the TypeScript compiler is not installed: ${error}` : reason(error), {
      cause: error
    })
  }
}

exports.filename = filename
