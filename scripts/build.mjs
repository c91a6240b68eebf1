// `pnpm build`: the CLI is the only thing that is built; packages are consumed as sources.
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.mjs"

const cli = fileURLToPath(new URL("../apps/cli", import.meta.url))

await bundle({ input: `${cli}/src/Main.ts`, alone: `${cli}/src/ShortLane.ts`, out: `${cli}/dist` })
