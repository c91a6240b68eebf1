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
    for (const request of verify(events, (name) => formats.find(({ format }) => format === name), newHash)) {
      const { attempt, bytes, problem, step, turn } = request
      const where = `turn ${turn}, step ${step}${attempt > 1 ? `, attempt ${attempt}` : ""}: ${bytes} bytes`
      lines.push(problem === undefined ? `${where}, rebuilt` : `${where}, NOT rebuilt: ${problem}`)
      if (problem !== undefined) failures++
    }
    const all = `${lines.length} ${lines.length === 1 ? "request" : "requests"}`
    lines.push(failures === 0 ? `${all}, each rebuilt byte for byte from the log` : `${all}, ${failures} not rebuilt`)
    yield* output.print(lines.join("\n"))
    return failures === 0 ? ExitCode.completed : ExitCode.failed
  })
