/**
 * `dsh session verify ID`: rebuilds every request from the log and compares it with the digest of what was sent.
 */
import * as ChatCompletions from "@dsh/llm/ChatCompletions"
import { newHash } from "@dsh/llm/RequestDigest"
import { neutral } from "@dsh/protocol/NeutralRequest"
import { verify } from "@dsh/protocol/Verify"
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import { Output } from "../Output.ts"
import * as Sessions from "../Sessions.ts"

const formats = [ChatCompletions.format, neutral]

/** @param id As typed; it may name nothing. */
export const run = (id: string): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const { events } = yield* Sessions.load(id)
    const lines: Array<string> = []
    let failures = 0
    let lost = 0
    for (const request of verify(events, (name) => formats.find(({ format }) => format === name), newHash)) {
      const { attempt, bytes, isLost, problem, step, turn } = request
      const where = `turn ${turn}, step ${step}${attempt > 1 ? `, attempt ${attempt}` : ""}: ${bytes} bytes`
      if (problem === undefined) {
        lines.push(`${where}, rebuilt`)
      } else if (isLost === true) {
        lines.push(`${where}, cannot be rebuilt: events before it are lost`)
        lost++
      } else {
        lines.push(`${where}, NOT rebuilt: ${problem}`)
        failures++
      }
    }
    const all = `${lines.length} ${lines.length === 1 ? "request" : "requests"}`
    if (failures > 0) lines.push(`${all}, ${failures} not rebuilt`)
    else if (lost > 0)
      lines.push(`${all}, ${lines.length - lost} rebuilt byte for byte from the log, ${lost} without what is lost`)
    else lines.push(`${all}, each rebuilt byte for byte from the log`)
    yield* output.print(lines.join("\n"))
    return failures === 0 ? ExitCode.completed : ExitCode.failed
  })
