/**
 * Where a value of the settings is, as people type it: `permission.rules.deny[0]`, `prices."provider/model-1.5".input`.
 */
import type { Path } from "@dsh/settings/Settings"
import * as Either from "effect/Either"
import * as Failure from "./Failure.ts"

const part = /\.?(?:"([^"]*)"|'([^']*)'|\[(\d{1,6})\]|([^.[\]"']+))/y

/** Never empty. Fails with exit code 2. */
export const parse = (text: string): Either.Either<Path, Failure.Failure> => {
  const path: Array<PropertyKey> = []
  let at = 0
  while (at < text.length) {
    part.lastIndex = at
    const [whole, double, single, index, plain] = part.exec(text) ?? []
    // A dot stands between two parts, and nowhere else.
    const hasDot = whole?.startsWith(".") === true
    if (whole === undefined || hasDot !== (at > 0 && index === undefined)) break
    path.push(index === undefined ? (double ?? single ?? plain ?? "") : Number(index))
    at += whole.length
  }
  return at === text.length && path.length > 0 && typeof path[0] === "string"
    ? Either.right(path)
    : Either.left(
        Failure.usage(
          `"${text}" is no path of the settings; write it as agent-default-model.model, and names with dots in quotes`
        )
      )
}
