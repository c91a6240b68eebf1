/**
 * `dsh session export ID`: the log as it is stored, to the byte.
 */
import { SessionId } from "@dsh/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

const newline = new Uint8Array([10])
/** Bytes that are handed to stdout at once. */
const slab = 1024 * 1024

/** @param id As typed; it may name nothing. */
export const run = (id: string): Command =>
  Sessions.withPersistence((persistence) =>
    Effect.gen(function* () {
      const output = yield* Output
      const { header, records, rest } = yield* persistence.raw(SessionId(id))
      let parts: Array<Uint8Array> = [header, newline]
      let size = 0
      for (const { bytes } of records) {
        parts.push(bytes, newline)
        size += bytes.length
        if (size < slab) continue
        yield* output.write(Buffer.concat(parts))
        parts = []
        size = 0
      }
      yield* output.write(Buffer.concat([...parts, rest]))
      return ExitCode.completed
    })
  )
