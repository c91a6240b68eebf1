/**
 * `dsh --profile NAME --dump-config`: what a profile is made of, and who says so. Nothing is started.
 */
import { stack } from "@dsh/compose/Stack"
import * as Composing from "@dsh/compose/CompositionError"
import { dump } from "@dsh/compose/Dump"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import type { Launch } from "../Argv.ts"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as Profile from "../Profile.ts"

/** @param own With what the user changed. */
export const run = ({ patches, profile: name }: Launch, own: boolean): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const profile = yield* Profile.load(name)
    const below = yield* Profile.bundled(profile)
    const { notices, problems, rows } = stack(own ? [...below, ...(yield* Profile.changes(profile, patches))] : below)
    const error = Composing.ofAll(problems)
    if (error !== undefined) return yield* error
    for (const notice of [...(yield* Profile.foreign(profile)), ...notices]) output.notice(notice)
    yield* output.print(dump(rows).trimEnd())
    return ExitCode.completed
  }).pipe(
    Effect.catchTag("CompositionError", ({ code, message }) => Failure.configuration(code, message)),
    Effect.provide(NodeFileSystem.layer)
  )
