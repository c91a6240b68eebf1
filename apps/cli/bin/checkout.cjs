// Which chunk to start. In a git checkout it is built on demand: when there is none, or when one of the files it was
// made of changed since. An installed package has no build script beside it and skips the check.
"use strict"
const fs = require("node:fs")
const path = require("node:path")

const root = path.join(__dirname, "..", "..", "..")
const builder = path.join(root, "scripts", "build.mjs")
const main = path.join(__dirname, "..", "dist", "main")

/** The entry chunk of the latest build, and its inputs relative to the checkout: see scripts/bundle.mjs. */
const readMain = () => {
  try {
    const [chunk, ...inputs] = fs.readFileSync(main, "utf8").split("\n")
    return { chunk, inputs }
  } catch {
    return undefined
  }
}

const isFresh = (build) => {
  if (build === undefined) return false
  const built = fs.statSync(main).mtimeMs
  const unchanged = (file) => {
    const stat = fs.statSync(path.join(root, file), { throwIfNoEntry: false })
    return stat !== undefined && stat.mtimeMs <= built
  }
  return build.inputs.every(unchanged)
}

const rebuild = () => {
  const { spawnSync } = require("node:child_process")
  const { status } = spawnSync(process.execPath, [builder], { cwd: root, stdio: ["ignore", 2, 2] })
  if (status === 0) return readMain()
  process.stderr.write('dsh: BUILD: the command could not be built; run "npx -y pnpm@12.4.2 install" and try again\n')
  process.exit(3)
}

exports.mainChunk = () => {
  const build = readMain()
  return (fs.existsSync(builder) && !isFresh(build) ? rebuild() : build).chunk
}
