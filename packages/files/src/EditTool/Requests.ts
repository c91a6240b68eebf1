/**
 * The edits that a call asks for: one, or a list of them.
 */
import * as Either from "effect/Either"
import * as EditMatch from "../EditMatch.ts"
import { EditRefused } from "../EditMatch.ts"
import type { Request } from "../EditMatch.ts"

export interface Requests {
  readonly list: ReadonlyArray<Request>
  /** What a refusal calls the edit at `index`: nothing when there is only one. */
  readonly nameOf: (index: number) => string
}

interface Edit {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

interface Arguments extends Partial<Edit> {
  readonly edits?: ReadonlyArray<Edit>
}

/** Fails with `INVALID_ARGS`, whatever the file, if any of them cannot be meant. */
export const of = ({ edits, new_string, old_string, replace_all }: Arguments): Either.Either<Requests, EditRefused> => {
  const isOne = edits === undefined || (edits.length === 0 && old_string !== undefined)
  if (isOne) {
    if (old_string === undefined || new_string === undefined) return invalid("give old_string and new_string, or edits")
    const request = requestOf({ old_string, new_string, ...(replace_all !== undefined && { replace_all }) })
    return Either.map(EditMatch.check(request), () => ({ list: [request], nameOf: () => "" }))
  }
  // Some models fill in every parameter.
  if ((old_string ?? "") !== "" || (new_string ?? "") !== "") {
    return invalid("old_string and new_string belong into edits when there are edits")
  }
  if (edits.length === 0) return invalid("edits is empty")
  const list = edits.map(requestOf)
  const nameOf = (index: number) => `edit ${index + 1} of ${edits.length}`
  const checked = list.map((request, i) =>
    Either.mapLeft(EditMatch.check(request), ({ code, message }) => refused(code, unmade(nameOf(i), message)))
  )
  return Either.map(Either.all(checked), () => ({ list, nameOf }))
}

/** What to say when the edit of that name is refused for the reason in `message`. */
export const unmade = (name: string, message: string): string =>
  name === "" ? message : `${name}: ${message}; no edit of the list was made`

const refused = (code: EditRefused["code"], message: string) => new EditRefused({ code, message })

const requestOf = ({ new_string, old_string, replace_all = false }: Edit): Request => ({
  oldText: old_string,
  newText: new_string,
  replaceAll: replace_all
})

const invalid = (message: string) => Either.left(refused("INVALID_ARGS", message))
