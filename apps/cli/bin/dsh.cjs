#!/usr/bin/env node
// The `dsh` command. CommonJS, because the ESM loader alone would cost a third of the start-up time.
"use strict"

const first = process.argv[2]

if (first === "--version" || first === "-V") {
  process.stdout.on("error", () => {})
  process.stdout.write(`dsh ${require("../package.json").version} (the Effect edition of DeepSeek Harness)\n`)
} else {
  require("./boot.cjs").boot(require("./checkout.cjs").mainChunk())
}
