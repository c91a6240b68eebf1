/**
 * Converts a page in a thread of its own, which is ended when it takes too long.
 *
 * No library is safe with a page that was made to be slow: the best known one takes two minutes for 100 KB of table cells, the fast one
 * that is used here can be kept busy for twenty seconds. Meanwhile no other agent of the process would get a turn.
 */
import type { MdreamOptions } from "@mdream/js"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import { Markdown } from "./Markdown.ts"

export interface Options {
  /** Default 5 seconds. */
  readonly timeout?: Duration.DurationInput
  /** Of memory for the conversion, in MiB. Default 256. */
  readonly maxMemory?: number
}

/** What runs in the thread. Text, for a bundle has no file of it and Node cannot read TypeScript. */
const program = `
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
const { html, library, options } = workerData
import(library).then(({ htmlToMarkdown }) => parentPort.postMessage(htmlToMarkdown(html, options)))
`

const library = (): string => pathToFileURL(createRequire(import.meta.url).resolve("@mdream/js")).href

/** Links start where the page is. */
const optionsFor = (url: string): MdreamOptions => ({ origin: new URL(url).origin })

export const make = ({ maxMemory = 256, timeout = "5 seconds" }: Options = {}): Markdown["Type"] => {
  const converted = (html: string, url: string): Effect.Effect<string, { readonly cause: unknown }> =>
    Effect.async((resume) => {
      const failed = (cause: unknown) => resume(Effect.fail({ cause }))
      let worker: Worker
      try {
        worker = new Worker(program, {
          eval: true,
          workerData: { html, library: library(), options: optionsFor(url) },
          resourceLimits: { maxOldGenerationSizeMb: maxMemory },
          env: {},
          execArgv: [],
          // What it writes, if anything, is no output of ours.
          stdout: true,
          stderr: true
        })
      } catch (cause) {
        return failed(cause)
      }
      worker.once("message", (text: unknown) =>
        typeof text === "string" ? resume(Effect.succeed(text)) : failed(text)
      )
      worker.on("error", failed)
      worker.once("exit", (code) => failed(`it ended with code ${code}`))
      return Effect.promise(() => worker.terminate())
    })

  return Markdown.of({
    convert: (html, url) =>
      converted(html, url).pipe(
        Effect.timeoutFail({ duration: timeout, onTimeout: () => ({ cause: "it took too long" }) }),
        Effect.map((text) => text.trim()),
        Effect.tapError(({ cause }) => Effect.logDebug("a page is not converted to Markdown", cause)),
        Effect.option
      )
  })
}

export const layer = (options?: Options): Layer.Layer<Markdown> => Layer.sync(Markdown, () => make(options))
