/**
 * Sending a signal to somebody who may not be there any more.
 */

/** A negative target is a process group. 0 only asks. */
export const send = (target: number, signal: NodeJS.Signals | 0): "sent" | "missing" | "refused" => {
  try {
    process.kill(target, signal)
    return "sent"
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "ESRCH" ? "missing" : "refused"
  }
}
