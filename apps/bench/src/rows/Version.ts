/**
 * The shortest command there is.
 */
import * as Effect from "effect/Effect"
import * as Processes from "../Processes.ts"
import * as Row from "../Row.ts"
import * as Subjects from "../Subjects.ts"

const limit = 1.5

export const version: Row.Row = {
  what: "dsh --version, wall",
  target: `≤ ${limit} × node -e 0`,
  measure: Effect.map(
    Processes.takeTurns(
      { node: Processes.wall(Subjects.bareNode), dsh: Processes.wall(Subjects.dsh(["--version"])) },
      25
    ),
    ({ dsh, node }) => Row.compare(node, dsh, "ms", limit)
  )
}
