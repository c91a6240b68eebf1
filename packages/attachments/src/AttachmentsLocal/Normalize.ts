/**
 * From an image that was given to the one that is kept: decoded, which is the only proof that it is one, and shrunk, turned and
 * encoded anew where it needs it.
 *
 * That takes seconds of computing, so it is done in a thread of its own, which ends with the job: interrupted, it is gone at once, and
 * whatever a hostile image makes of its memory goes with it.
 */
import type { Answer, Job } from "@dsh/image-codec"
import * as Effect from "effect/Effect"
import { Worker } from "node:worker_threads"
import { AttachmentError } from "../Attachments.ts"
import type { MediaType } from "../Attachments.ts"
import type { Checked } from "./Validate.ts"

export interface Normalized {
  readonly bytes: Uint8Array
  readonly mediaType: MediaType
  readonly width: number
  readonly height: number
  readonly originalWidth: number
  readonly originalHeight: number
}

/** Of an image that is kept. */
export const maxEdge = 2048
export const maxBytes = 4 * 1024 * 1024

/** By the worker at `program`, if there is to be another than the packaged one. */
export const normalize = (
  { bytes, header, name }: Checked,
  program?: string
): Effect.Effect<Normalized, AttachmentError> =>
  Effect.flatMap(
    answerTo(name, program, {
      bytes,
      orientation: header.orientation,
      maxEdge,
      maxBytes,
      isClean: header.isClean && header.orientation === 1,
      format: header.mediaType === "image/jpeg" ? "jpeg" : "png"
    }),
    (answer) => {
      switch (answer.kind) {
        case "undecodable":
          return invalid(name, "is damaged: it cannot be decoded", answer.reason)
        case "too-large":
          return invalid(name, `cannot be made smaller than ${maxBytes} bytes`)
        case "done":
          return Effect.succeed({
            ...answer,
            bytes: answer.bytes ?? bytes,
            mediaType: answer.mediaType ?? header.mediaType
          })
      }
    }
  )

const packaged = (name: string) =>
  Effect.map(
    Effect.tryPromise({
      try: () => import("@dsh/image-codec"),
      catch: (cause) => failure(name, "could not be looked at: the image codecs are not installed", cause)
    }),
    ({ program }) => program
  )

const answerTo = (name: string, program: string | undefined, job: Job): Effect.Effect<Answer, AttachmentError> =>
  Effect.flatMap(program === undefined ? packaged(name) : Effect.succeed(program), (path) =>
    Effect.async<Answer, AttachmentError>((resume) => {
      const worker = new Worker(path, { workerData: job })
      worker.once("message", (answer: Answer) => resume(Effect.succeed(answer)))
      worker.once("error", (cause) => resume(invalid(name, "is damaged or takes too much memory", cause)))
      worker.once("exit", (code) => resume(invalid(name, `could not be decoded (exit code ${code})`)))
      return Effect.promise(() => worker.terminate())
    })
  )

const failure = (name: string, what: string, cause?: unknown) =>
  new AttachmentError({ code: "INVALID_IMAGE", message: `${name} ${what}`, cause })

const invalid = (name: string, what: string, cause?: unknown): Effect.Effect<never, AttachmentError> =>
  failure(name, what, cause)
