/**
 * `Notifications` by the bell of the terminal and a command of the user's own.
 *
 * The command is no shell line: it is a program and its arguments, and what there is to tell is in its environment and, as JSON, on its
 * standard input. It gets the desktop's variables and none of the others, for there are keys among them.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import type { NotificationSettings } from "./NotificationSettings.ts"
import { Notifications } from "./Notifications.ts"
import type { News } from "./Notifications.ts"

export interface Options extends NotificationSettings {
  /** Where a bell is rung: writes to a terminal. Left out where there is none. */
  readonly ring?: (() => void) | undefined
  /** Of the command. Default 10 s. */
  readonly deadline?: Duration.DurationInput
}

export const make = ({ after = 0, bell = false, command, deadline = "10 seconds", ring }: Options) =>
  Notifications.of({
    tell: (news) =>
      Effect.suspend(() => {
        if (news.event !== "approval" && news.durationMs < after * 1000) return Effect.succeed(undefined)
        if (bell) ring?.()
        return command === undefined ? Effect.succeed(undefined) : run(command, news, deadline)
      })
  })

export const layer = (options: Options): Layer.Layer<Notifications> => Layer.succeed(Notifications, make(options))

const allowed =
  /^(PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TERM|TMUX|DISPLAY|WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS|XDG_\w+)$/

const environment = ({ cwd, durationMs, event, message, sessionId }: News) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => allowed.test(name))),
  DSH_EVENT: event,
  DSH_MESSAGE: message,
  DSH_SESSION_ID: sessionId ?? "",
  DSH_CWD: cwd,
  DSH_DURATION_MS: String(durationMs)
})

const run = (
  [program, ...args]: readonly [string, ...ReadonlyArray<string>],
  news: News,
  deadline: Duration.DurationInput
): Effect.Effect<string | undefined> =>
  Effect.async<string | undefined>((resume) => {
    // A group of its own: what it has started ends with it.
    const child = spawn(program, args, {
      cwd: news.cwd,
      env: environment(news),
      stdio: ["pipe", "ignore", "ignore"],
      detached: true
    })
    child.once("error", (error) =>
      resume(Effect.succeed(`the command of notifications did not start: ${error.message}`))
    )
    child.once("close", (code, signal) => {
      const how = signal === null ? `exit code ${code}` : signal
      resume(Effect.succeed(code === 0 ? undefined : `the command of notifications (${program}) failed: ${how}`))
    })
    // It need not read it.
    child.stdin.on("error", () => {})
    child.stdin.end(`${JSON.stringify(news)}\n`)
    return Effect.sync(() => {
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, "SIGKILL")
      } catch {
        // It has just ended.
      }
    })
  }).pipe(
    Effect.timeoutTo({
      duration: deadline,
      onSuccess: (said) => said,
      onTimeout: () =>
        `the command of notifications (${program}) took longer than ${Duration.format(Duration.decode(deadline))} and was ended`
    })
  )
