/**
 * Whether a stream gets colour: only a terminal does, and only if nobody asked for none (https://no-color.org).
 */

/** @param env Usually `process.env`. */
export const isEnabled = (stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean =>
  stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"

/** Removes the escape sequences that select colours and weights. */
// oxlint-disable-next-line no-control-regex
export const strip = (text: string): string => text.replaceAll(/\u001b\[[0-9;]*m/g, "")
