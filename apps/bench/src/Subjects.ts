/**
 * What is measured again and again.
 */
import type { Subject } from "./Processes.ts"

/** The least a Node process costs. */
export const bareNode: Subject = { args: ["-e", "0"] }

/** Node with `fetch` and a loop over the events of one completion. */
export const bareFetch = (url: string): Subject => ({ args: ["apps/bench/programs/fetch-sse.cjs", url] })

/** Node with `fetch` and a loop over steps: asks, answers the tool calls, asks again. */
export const bareSteps = (url: string): Subject => ({ args: ["apps/bench/programs/steps-sse.cjs", url] })

/** Node with `fetch`: so many requests, so many at a time. */
export const bareRequests = (url: string, count: number, concurrency: number): Subject => ({
  args: ["apps/bench/programs/fetch-many.cjs", url, String(count), String(concurrency)]
})

/** The product. It has a key, and its sessions go to `home`. */
export const dsh = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Subject => ({
  args: ["apps/cli/bin/dsh.cjs", ...args],
  env: { DEEPSEEK_API_KEY: "sk-bench", ...env }
})
