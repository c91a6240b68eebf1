/**
 * The rules that the commands about permissions look at and change: those of the user, and those of the folder they are in.
 */
import { PermissionRules } from "@dsh/permission/PermissionRules"
import * as Rules from "@dsh/permission/Rules"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Failure from "./Failure.ts"
import { layer } from "./Permissions/Layer.ts"

export const withRules = <A, E extends { readonly code: string; readonly message: string }, R>(
  use: (rules: PermissionRules["Type"]) => Effect.Effect<A, E, R>
): Effect.Effect<A, Failure.Failure, Exclude<R, PermissionRules>> =>
  Effect.flatMap(PermissionRules, use).pipe(
    Effect.provide(Layer.provide(layer, NodeFileSystem.layer)),
    Effect.mapError((error) =>
      error instanceof Failure.Failure ? error : Failure.configuration(error.code, error.message)
    )
  )

/** The rule that was typed. Fails with exit code 2. */
export const parse = (text: string): Either.Either<Rules.Rule, Failure.Failure> =>
  Either.mapLeft(Rules.parse(text), (problem) => Failure.usage(`"${text}" ${problem}`))
