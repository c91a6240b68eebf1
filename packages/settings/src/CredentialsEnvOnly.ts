/**
 * Credentials of the environment alone, for containers and machines that build: nothing is kept, and nothing can be set.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Pulse from "./Pulse.ts"
import { Credentials, CredentialsError } from "./Credentials.ts"
import * as Environment from "./Credentials/Environment.ts"
import * as Resolution from "./Credentials/Resolution.ts"
import { empty } from "./Credentials/Store.ts"

const refused = new CredentialsError({
  code: "CREDENTIALS_UNWRITABLE",
  message: "credentials are taken from the environment here and cannot be kept; set them there"
})

/** Reads with the ConfigProvider that is current when it is made, each time it is asked. */
export const make: Effect.Effect<Credentials["Type"]> = Effect.flatMap(Environment.reader, (env) =>
  Resolution.make({
    env,
    store: { read: Effect.succeed(empty), change: () => Effect.fail(refused), touched: Pulse.never }
  })
)

export const layer: Layer.Layer<Credentials> = Layer.effect(Credentials, make)
