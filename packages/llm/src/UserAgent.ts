/**
 * How outgoing requests name the product.
 */
import * as Context from "effect/Context"

/** `product/version`. The application may put its own in place. */
export class UserAgent extends Context.Reference<UserAgent>()("@dsh/llm/UserAgent", {
  defaultValue: () => "dsh/0.1.0"
}) {}
