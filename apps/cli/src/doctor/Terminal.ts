/**
 * What the terminal can show. There is nothing in it that could be wrong.
 */
import * as Effect from "effect/Effect"
import * as Color from "../Color.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

/** The first that is set holds, as for the C library. */
const locale = (env: NodeJS.ProcessEnv): string =>
  [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find((value) => value !== undefined && value !== "") ?? "not set"

export const describe = (
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: NodeJS.ProcessEnv
): string => {
  const found = locale(env)
  return [
    stream.isTTY === true ? `a terminal of ${stream.columns ?? "unknown"} columns` : "stdout is no terminal",
    Color.isEnabled(stream, env) ? "colour" : "no colour",
    /utf-?8/i.test(found) ? "UTF-8" : `no UTF-8 by its locale (${found})`
  ].join(", ")
}

export const check: Check = () => Effect.sync(() => Finding.ok(describe(process.stdout, process.env)))
