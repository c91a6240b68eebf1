/**
 * Whether the `.env` files can be used: one that cannot ends every run.
 */
import * as EnvFiles from "@dsh/settings/EnvFiles"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as HomeFolder from "../HomeFolder.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

const file = (folder: string) =>
  Effect.match(EnvFiles.load({ project: folder, home: folder }), {
    onFailure: (error) => Finding.because("fail", error),
    onSuccess: ({ projectEnv: { size } }) =>
      Finding.ok(`${join(folder, ".env")} sets ${size} ${size === 1 ? "name" : "names"}`)
  })

export const check: Check = () =>
  Effect.gen(function* () {
    const folders = new Set([process.cwd(), yield* HomeFolder.home])
    const found = [...folders].filter((folder) => existsSync(join(folder, ".env")))
    const [first, ...others] = yield* Effect.forEach(found, file)
    return first === undefined ? Finding.ok("there are none") : Finding.all([first, ...others])
  })
