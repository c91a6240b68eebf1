/**
 * `dsh doctor`: everything that a run needs, looked at before there is one. All checks run at once, and each for so long only.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type { Command } from "../Dispatch.ts"
import * as Blocking from "../doctor/Blocking.ts"
import * as Configuration from "../doctor/Configuration.ts"
import * as EnvFiles from "../doctor/EnvFiles.ts"
import * as Extensions from "../doctor/Extensions.ts"
import type { Check, Subject } from "../doctor/Finding.ts"
import * as Finding from "../doctor/Finding.ts"
import * as Home from "../doctor/Home.ts"
import * as Key from "../doctor/Key.ts"
import * as Network from "../doctor/Network.ts"
import * as Node from "../doctor/Node.ts"
import * as Presets from "../doctor/Presets.ts"
import * as Ripgrep from "../doctor/Ripgrep.ts"
import * as Sandbox from "../doctor/Sandbox.ts"
import * as Sessions from "../doctor/Sessions.ts"
import * as Settings from "../doctor/Settings.ts"
import * as Terminal from "../doctor/Terminal.ts"
import * as Environment from "../Environment.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Headless from "../Headless.ts"
import { Output } from "../Output.ts"
import * as Preset from "../Permissions/Preset.ts"
import * as Private from "../Private.ts"

/** In the order in which they are told. */
const checks: ReadonlyArray<readonly [name: string, check: Check]> = [
  ["node", Node.check],
  ["sandbox", Sandbox.check],
  ["ripgrep", Ripgrep.check],
  ["key", Key.check],
  ["network", Network.check],
  ["home", Home.check],
  ["settings", Settings.check],
  ["env-files", EnvFiles.check],
  ["configuration", Configuration.check],
  ["extensions", Extensions.check],
  ["presets", Presets.check],
  ["sessions", Sessions.check],
  ["terminal", Terminal.check]
]

/** Those that read nothing of the home folder that somebody else may hold up. */
const independent = ["node", "ripgrep", "network", "home", "terminal"]

const deadlineSeconds = 10

/** What goes wrong with a check is its finding, too, and it is not waited for what does not end. */
const bounded = (finding: Effect.Effect<Finding.Finding>): Effect.Effect<Finding.Finding> =>
  finding.pipe(
    Effect.catchAllCause((cause) =>
      Effect.succeed(Finding.fail(`the check itself failed: ${Cause.pretty(cause).split("\n")[0]}`, "report it"))
    ),
    Effect.disconnect,
    Effect.timeoutTo({
      duration: `${deadlineSeconds} seconds`,
      onSuccess: (finding) => finding,
      onTimeout: () =>
        Finding.fail(`nothing was found out within ${deadlineSeconds} s`, "try again when the machine is less busy")
    })
  )

const unread = Effect.succeed(Finding.warn("it was not looked at, because the home folder cannot be read", "see home"))

/** Nobody is asked anything, so no key is needed for it. */
const nobody = { apiKey: Redacted.make("none"), baseUrl: undefined }

/** Settings that cannot be used are told by who checks them. */
const prepare = (profile: string) =>
  Effect.gen(function* () {
    const permission = yield* Effect.orElseSucceed(Preset.resolve(undefined), () => undefined)
    // One that is none is told by who checks the variables.
    const toolsMode = yield* Effect.orElseSucceed(Environment.toolsMode, () => undefined)
    return yield* Headless.prepare({
      toolsMode,
      provider: nobody,
      launch: { profile, patches: [] },
      permission: permission?.standing
    })
  })

export const run = ({
  json,
  profile = "headless"
}: {
  readonly json: boolean
  readonly profile: string | undefined
}): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const blocking = yield* Blocking.find(profile)
    const isFree = blocking.length === 0
    const preparing = yield* Effect.forkScoped(isFree ? prepare(profile) : Effect.never)
    const subject: Subject = { profile, blocking, prepared: Fiber.join(preparing) }
    const findings = yield* Effect.forEach(
      checks,
      ([check, look]) =>
        Effect.map(isFree || independent.includes(check) ? bounded(look(subject)) : unread, (finding) => ({
          check,
          ...finding
        })),
      { concurrency: "unbounded" }
    )
    const hide = yield* isFree ? Private.hiding : Private.hidingAmbient
    yield* output.print(hide(findings.map(json ? (found) => JSON.stringify(found) : toText).join("\n")))
    return findings.some(({ status }) => status === "fail") ? ExitCode.configuration : ExitCode.completed
  }).pipe(Effect.scoped)

const width = Math.max(...checks.map(([name]) => name.length))

const toText = ({ check, message, remedy, status }: Finding.Finding & { readonly check: string }): string => {
  const text = remedy === undefined ? message : `${message}; ${remedy}`
  return `${status.padEnd(4)}  ${check.padEnd(width)}  ${text.replaceAll("\n", `\n${" ".repeat(width + 8)}`)}`
}
