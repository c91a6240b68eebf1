/**
 * Keys and other secrets, by reference: everything else names a secret, and only who uses it asks for the value, each time it does.
 *
 * A reference is the name of an environment variable. A record is a secret that a program keeps for itself, such as what a login gave it.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"

/** The environment of the process, the file that dsh keeps, `.env` in the folder of the project, `.env` in the home folder. */
export type Source = "env" | "file" | "project-env" | "user-env"

export interface Resolved {
  readonly value: Redacted.Redacted
  readonly source: Source
}

export interface Description {
  readonly configured: boolean
  readonly source?: Source
  /** Whether it can be set: not while the environment has it, which would win. */
  readonly writable: boolean
}

export type Record =
  | {
      readonly kind: "api-key"
      readonly key?: Redacted.Redacted
      readonly env?: Readonly<{ [name: string]: Redacted.Redacted }>
    }
  /** Anything that is JSON. */
  | { readonly kind: "grant"; readonly payload: Redacted.Redacted<unknown> }

/** No message of it holds anything of a value. */
export class CredentialsError extends Data.TaggedError("CredentialsError")<{
  readonly code:
    | "CREDENTIALS_UNREADABLE"
    | "CREDENTIALS_INVALID"
    | "CREDENTIALS_EXPOSED"
    | "CREDENTIALS_UNWRITABLE"
    | "CREDENTIALS_LOCKED"
    | "CREDENTIAL_SHADOWED"
    | "INVALID_REFERENCE"
    | "INVALID_CREDENTIAL"
    | "MISSING_CREDENTIAL"
  readonly message: string
}> {}

type Answer<A> = Effect.Effect<A, CredentialsError>

export class Credentials extends Context.Tag("@dsh/settings/Credentials")<
  Credentials,
  {
    /** The value that is in force now. Ask again for each use, and keep none. */
    readonly resolve: (ref: string) => Answer<Option.Option<Resolved>>
    readonly describe: (ref: string) => Answer<Description>
    /** The references that are kept here. */
    readonly list: Answer<ReadonlyArray<string>>
    /** Fails with `CREDENTIAL_SHADOWED` while the environment has it, and with `INVALID_CREDENTIAL` for what no key looks like. */
    readonly set: (ref: string, value: Redacted.Redacted) => Answer<void>
    /** Whether it was set where it can be unset. Fails as `set` does. */
    readonly unset: (ref: string) => Answer<boolean>
    /** @param key `scope/id`. */
    readonly readRecord: (key: string) => Answer<Option.Option<Record>>
    readonly listRecords: Answer<ReadonlyArray<{ readonly key: string; readonly kind: Record["kind"] }>>
    /**
     * Puts what `change` makes of a record in its place; nothing takes it away. Nobody else, in this process or another, changes it
     * meanwhile: so of many that find a token expired one refreshes it, and the others find a new one.
     */
    readonly modifyRecord: <E, R>(
      key: string,
      change: (record: Option.Option<Record>) => Effect.Effect<Option.Option<Record>, E, R>
    ) => Effect.Effect<Option.Option<Record>, CredentialsError | E, R>
    /** Whether there was one. */
    readonly deleteRecord: (key: string) => Answer<boolean>
    /** References that were set, changed or unset where they can be, by whomever, from the moment this runs. */
    readonly changes: Stream.Stream<string>
  }
>() {}

/** What a reference looks like. */
export const isReference = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

/** What was typed may be the secret itself, so it is not repeated. */
export const checkReference = (name: string): Answer<void> =>
  isReference(name)
    ? Effect.void
    : new CredentialsError({
        code: "INVALID_REFERENCE",
        message: "that is no name of a credential; it is one like DEEPSEEK_API_KEY: letters, digits and underscores"
      })

/** The key as it can be sent in a header: pasted ones bring line breaks and typographic characters along. */
export const usable = (ref: string, value: Redacted.Redacted): Answer<Redacted.Redacted> => {
  const key = Redacted.value(value).trim()
  return /^[\x21-\x7E]+$/.test(key)
    ? Effect.succeed(Redacted.make(key))
    : new CredentialsError({
        code: "INVALID_CREDENTIAL",
        message: `${ref} holds characters that no key has (a space, a line break or a quote from a copied page): set it again`
      })
}

/** The key behind a reference. Fails with `MISSING_CREDENTIAL` or `INVALID_CREDENTIAL`. */
export const obtain = (credentials: Credentials["Type"], ref: string): Answer<Redacted.Redacted> =>
  Effect.flatMap(credentials.resolve(ref), (found) =>
    Option.isSome(found)
      ? usable(ref, found.value.value)
      : new CredentialsError({
          code: "MISSING_CREDENTIAL",
          message: `${ref} is not set; keep it with "dsh credentials set ${ref}", or set it in the environment`
        })
  )
