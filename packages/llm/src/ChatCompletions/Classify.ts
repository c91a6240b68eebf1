/**
 * What kind of failure a provider is talking about: by status where the status says it, by wording where it does not.
 */

const overflow = [
  /context[_ ]length[_ ]exceeded|context[_ ]window[_ ]exceeded/i,
  /(maximum|max)( allowed| supported)? context (length|window)/i,
  /(input|prompt|request)( is)? too (long|large)( for (this|the) model)?/i,
  /exceeds? .{0,40}(model.{0,10} context|context (size|length|window|limit))/i,
  /(input|prompt) .{0,40}exceeds? .{0,40}(token|context)/i
]

const quota = [
  /insufficient[ _](quota|balance|credits?)/i,
  /(quota|usage limit)[ _](exceeded|exhausted|reached)/i,
  /exceeded (your |the )?(current )?quota/i,
  /(balance|credits?) (exhausted|depleted)/i,
  /out of (credits?|budget)/i
]

const auth = /authentication|unauthorized|invalid[_ ]api[_ ]key|incorrect api key|permission|forbidden/i
const rate = /rate[_ -]?limit|too many requests/i
const invalid = /invalid[_ ]request|bad[_ ]request|unsupported|not[_ ]found/i

const matches = (patterns: ReadonlyArray<RegExp>, text: string): boolean =>
  patterns.some((pattern) => pattern.test(text))

/** The stable code behind an HTTP status and what the body says (code, type and message joined). */
export const byStatus = (status: number, said: string): string => {
  if (matches(quota, said)) return "QUOTA"
  if (status === 401 || status === 403) return "AUTH"
  if (status === 402) return "QUOTA"
  if (status === 429) return "RATE_LIMIT"
  if (matches(overflow, said)) return "CONTEXT_WINDOW_EXCEEDED"
  if (status === 400 || status === 413) return "INVALID_REQUEST"
  return status >= 500 ? "SERVER" : `HTTP_${status}`
}

/** The same for an error inside a stream, where no status tells. Unclear ones are the server's: it had accepted the request. */
export const byWording = (said: string): string => {
  if (matches(quota, said)) return "QUOTA"
  if (rate.test(said)) return "RATE_LIMIT"
  if (matches(overflow, said)) return "CONTEXT_WINDOW_EXCEEDED"
  if (auth.test(said)) return "AUTH"
  return invalid.test(said) ? "INVALID_REQUEST" : "SERVER"
}
