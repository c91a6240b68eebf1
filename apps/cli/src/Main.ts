/**
 * The entry of the bundle: picks the lane, and loads no more than the chosen command needs.
 */
import * as Argv from "./Argv.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Request from "./Request.ts"
import { isPlain } from "./SessionStore/Choice.ts"
import { isatty } from "node:tty"

const typed = process.argv.slice(2)
// Whoever sits in front of a terminal and says nothing else wants to talk.
const isChat = typed.length === 0 && isatty(0) && isatty(1)
const parsed = Argv.parse(isChat ? ["chat"] : typed)

if (parsed._tag === "Usage") {
  process.stderr.on("error", () => {})
  process.stderr.write(`dsh: USAGE: ${parsed.message}\n`)
  process.exitCode = ExitCode.usage
} else {
  const request = isPlain(process.env) ? Request.fastLane(parsed) : undefined
  if (request === undefined) void import("./FullLane.ts").then((lane) => lane.start(parsed))
  else void import("./ShortLane.ts").then((lane) => lane.start(request))
}
