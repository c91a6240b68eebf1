/**
 * What can go wrong with the web, as the model reads it.
 */
import * as Data from "effect/Data"

export type Code =
  /** Two providers have one id. */
  | "WEB_DUPLICATE_PROVIDER"
  /** The provider that was chosen is not there … */
  | "WEB_PROVIDER_CONFIGURED_MISSING"
  /** … or lacks something, such as its key. */
  | "WEB_PROVIDER_CONFIGURED_UNAVAILABLE"
  /** None was chosen, and none can be used … */
  | "WEB_PROVIDER_UNAVAILABLE"
  /** … or several can. */
  | "WEB_PROVIDER_AMBIGUOUS"
  | "WEB_PROVIDER_CREDENTIAL_MISSING"
  /** It answered with an error, with nothing that can be used, or not at all. */
  | "WEB_PROVIDER_ERROR"
  | "WEB_INVALID_URL"
  /** Where it leads, or how, is forbidden; nothing was sent there. */
  | "WEB_BLOCKED_URL"
  | "WEB_REDIRECT_BLOCKED"
  | "WEB_FETCH_TOO_LARGE"
  | "WEB_FETCH_TIMEOUT"
  | "WEB_UNSUPPORTED_CONTENT_TYPE"
  /** Somebody else than the caller gave it up. A caller who cancels is interrupted and needs no error. */
  | "WEB_ABORTED"

/** No key and no password is in it. */
export class WebError extends Data.TaggedError("WebError")<{
  readonly code: Code
  readonly message: string
  readonly cause?: unknown
}> {}
