/**
 * The entry of the bundle: picks the lane, and loads no more than the chosen command needs.
 */
import * as Argv from "./Argv.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Request from "./Request.ts"
import { isPlain } from "./SessionStore/Choice.ts"

const parsed = Argv.parse(process.argv.slice(2))

if (parsed._tag === "Usage") {
  process.stderr.on("error", () => {})
  process.stderr.write(`dsh: USAGE: ${parsed.message}\n`)
  process.exitCode = ExitCode.usage
} else {
  const request = isPlain(process.env) ? Request.fastLane(parsed) : undefined
  if (request === undefined) void import("./FullLane.ts").then((lane) => lane.start(parsed))
  else void import("./ShortLane.ts").then((lane) => lane.start(request))
}
