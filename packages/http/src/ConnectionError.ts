/**
 * Why a connection could not be made, where Node's own error names neither the culprit nor what to do. It is the `cause` of the
 * `RequestError`, whose `description` is its message; no password of a proxy is in it.
 */
import * as Data from "effect/Data"

export type Code =
  /** What is set as proxy is none. */
  | "PROXY_INVALID"
  | "PROXY_UNREACHABLE"
  /** The proxy answered that it will not connect. */
  | "PROXY_REFUSED"
  /** … that it cannot. */
  | "PROXY_FAILED"
  | "TLS_UNTRUSTED"
  | "HOST_NOT_FOUND"

// Node's error is not kept as a cause: who looks for the innermost cause would find the code and lose the sentence.
export class ConnectionError extends Data.TaggedError("ConnectionError")<{
  readonly code: Code
  readonly message: string
}> {
  /** A later attempt may succeed without anybody changing anything. */
  get isTransient(): boolean {
    return this.code === "PROXY_UNREACHABLE" || this.code === "PROXY_FAILED" || this.code === "HOST_NOT_FOUND"
  }
}
