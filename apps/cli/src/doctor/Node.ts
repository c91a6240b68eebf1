/**
 * Whether this Node is one that dsh is made for.
 */
import * as Effect from "effect/Effect"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

const floor = [20, 19] as const

/** @param version As Node has it: `20.19.0`. */
export const judge = (version: string): Finding.Finding => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > floor[0] || (major === floor[0] && minor >= floor[1])
    ? Finding.ok(`Node ${version}`)
    : Finding.fail(
        `this is Node ${version}, and dsh needs ${floor.join(".")} or later`,
        "install a newer one from https://nodejs.org or with your version manager"
      )
}

export const check: Check = () => Effect.sync(() => judge(process.versions.node))
