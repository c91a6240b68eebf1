/**
 * `dsh permission revoke RULE`: takes back a rule of the user's own, or what was allowed for the rest of a session.
 */
import * as Grants from "@dsh/permission/Grants"
import * as PermissionEvents from "@dsh/permission/PermissionEvents"
import { SessionId } from "@dsh/protocol/Ids"
import * as SessionsService from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as Permissions from "../Permissions.ts"
import * as Sessions from "../Sessions.ts"

export const run = ({ rule, session }: { readonly rule: string; readonly session: string | undefined }): Command =>
  Effect.gen(function* () {
    const parsed = yield* Permissions.parse(rule)
    const found = yield* session === undefined
      ? Permissions.withRules((rules) => rules.remove(parsed))
      : fromSession(session, parsed.text)
    if (!found) {
      return yield* Failure.fromError({
        code: "RULE_NOT_FOUND",
        message: `you have no rule ${parsed.text}; "dsh permission list" shows which there are`
      })
    }
    const output = yield* Output
    output.notice(`${parsed.text} is taken back`)
    return ExitCode.completed
  })

const fromSession = (id: string, rule: string) =>
  Sessions.withPersistence(() =>
    Effect.gen(function* () {
      const sessions = yield* SessionsService.Sessions
      const session = yield* sessions.resume(SessionId(id))
      const found = yield* Grants.revoke(session, rule)
      yield* sessions.flush(session.id)
      return found
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(PermissionEvents.layer, Sessions.live)))
  )
