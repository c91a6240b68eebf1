/**
 * Keeps known secrets out of what tools give back: neither the model nor the log gets to see their values, whatever a command prints.
 *
 * It stands at the end of the pipeline, behind every hook. What is told in other words (encoded, or piece by piece) is not recognised.
 */
import * as Context from "effect/Context"

/** Values that never appear in a result, as they are known when it is made: a key that is looked up later is one, too. */
export class KnownSecrets extends Context.Reference<KnownSecrets>()("@dsh/tools/KnownSecrets", {
  defaultValue: (): (() => ReadonlyArray<string>) => () => []
}) {}

const mark = "[redacted]"

/** The text without any of `secrets`. */
export const redact = (text: string, secrets: ReadonlyArray<string>): string => {
  let hidden = text
  for (const secret of secrets) if (hidden.includes(secret)) hidden = hidden.replaceAll(secret, () => mark)
  return hidden
}
