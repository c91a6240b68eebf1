// `pnpm build`: the CLI is the only thing that is built; packages are consumed as sources.
//
// It is built twice: for every run, with nothing in it that is not used, and for runs with extensions, with all that they may import.
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.mjs"

const cli = fileURLToPath(new URL("../apps/cli", import.meta.url))
const [which] = process.argv.slice(2)

if (which !== "--open")
  await bundle({ input: `${cli}/src/Main.ts`, alone: `${cli}/src/ShortLane.ts`, out: `${cli}/dist`, wrapped: true })
if (which !== "--closed")
  await bundle({ input: `${cli}/src/Main.ts`, shared: `${cli}/src/Shared.ts`, out: `${cli}/dist/open`, wrapped: true })
