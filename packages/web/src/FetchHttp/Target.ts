/**
 * The address of a page, as far as it can be judged before anybody is asked where it leads.
 */
import * as Either from "effect/Either"
import { WebError } from "../WebError.ts"
import type { Code } from "../WebError.ts"

export interface Target {
  /** Without a fragment. */
  readonly url: URL
  /** Without brackets and without the dot at the end. */
  readonly host: string
  readonly port: string
}

const refused = (code: Code, message: string) => Either.left(new WebError({ code, message }))

/** @param base What a relative address starts from. */
export const parse = (text: string, maxLength: number, base?: string): Either.Either<Target, WebError> => {
  if (text.length > maxLength) {
    return refused("WEB_INVALID_URL", `the URL is longer than ${maxLength} characters; use a shorter one`)
  }
  if (!URL.canParse(text, base)) {
    return refused("WEB_INVALID_URL", "this is no URL; write it in full, such as https://example.com/page")
  }
  const url = new URL(text, base)
  if (url.href.length > maxLength) {
    return refused("WEB_INVALID_URL", `the URL is longer than ${maxLength} characters; use a shorter one`)
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refused(
      "WEB_BLOCKED_URL",
      `${url.protocol} URLs are not fetched, only http: and https:; files have tools of their own`
    )
  }
  if (url.username !== "" || url.password !== "") {
    return refused("WEB_BLOCKED_URL", `a URL with a user or a password in it is not fetched; leave them out`)
  }
  url.hash = ""
  const host = url.hostname.replace(/^\[|\]$|\.$/g, "")
  return Either.right({ url, host, port: url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port })
}
