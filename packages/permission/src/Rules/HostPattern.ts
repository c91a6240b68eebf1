/**
 * Hosts by their names, with stars. A name in other letters than those of ASCII is matched as it is sent.
 */
import * as Either from "effect/Either"
import * as Wildcard from "./Wildcard.ts"

/** A name or an address, and nothing of the URL around it: such a rule would never hold. */
const host = /^(?:\[[\da-f:.*]+\]|[^\s/?#@:\\[\]]+)$/i

export const parse = (text: string): Either.Either<RegExp, string> => {
  const value = text.trim()
  if (!host.test(value)) return Either.left("names no host; write it without scheme, port and path: example.com")
  const url = `http://${value}`
  const name = URL.canParse(url) ? new URL(url).hostname : value.toLowerCase()
  return Either.right(Wildcard.compile(name.replace(/\.$/, "")))
}
