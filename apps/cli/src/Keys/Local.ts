/**
 * The part of looking keys up that is only loaded where the environment has none.
 */
import * as CredentialsLocal from "@dsh/settings/CredentialsLocal"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"

export const make = (options: CredentialsLocal.Options) =>
  Effect.provide(CredentialsLocal.make(options), NodeFileSystem.layer)
