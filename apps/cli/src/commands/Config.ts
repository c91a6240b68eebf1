/**
 * `dsh config`: what is in force in this folder, and where it comes from. Nothing is started, and no key is shown.
 */
import * as Effect from "effect/Effect"
import type { Command } from "../Dispatch.ts"
import * as ExitCode from "../ExitCode.ts"
import * as InForce from "../InForce.ts"
import * as Keys from "../Keys.ts"
import { Output } from "../Output.ts"
import * as Private from "../Private.ts"

export const run = ({ json, profile }: { readonly json: boolean; readonly profile: string | undefined }): Command =>
  Effect.gen(function* () {
    const output = yield* Output
    const { notices, ...inForce } = yield* InForce.load(profile ?? "headless")
    for (const notice of notices) output.notice(notice)
    const hide = yield* Private.hiding
    yield* output.print(hide(json ? JSON.stringify(inForce) : toText(inForce)))
    return ExitCode.completed
  })

const toText = (inForce: Omit<InForce.InForce, "notices">): string => {
  const lines = rows(inForce).flatMap(([name, values]) =>
    values.map((value, i) => [i === 0 ? name : "", value] as const)
  )
  const width = Math.max(...lines.map(([name]) => name.length))
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n")
}

type Row = readonly [name: string, values: ReadonlyArray<string>]

const orNone = (values: ReadonlyArray<string>): ReadonlyArray<string> => (values.length === 0 ? ["none"] : values)

const from = ({ source, value }: InForce.Sourced): string => `${value}  (${source})`

const file = ({ exists, path }: InForce.File): string => (exists ? path : `${path}  (not there)`)

const rows = (inForce: Omit<InForce.InForce, "notices">): ReadonlyArray<Row> => {
  const { environment, keys, model, patches, profile, proxies, sandbox, sessions } = inForce
  const effort = model.reasoningEffort === null ? "" : `, effort ${model.reasoningEffort}`
  return [
    ["home", [file(inForce.home)]],
    ["profile", [`${profile.name}: ${profile.bundles.join(", ")}  (${profile.source})`]],
    ["patches", orNone(patches)],
    ["model", [`${model.provider}/${model.model}${effort}  (${model.source})`]],
    ["address", [from(inForce.address)]],
    ["preset", [from(inForce.preset)]],
    ["permission", [from(inForce.permission)]],
    ["tools", [from(inForce.tools)]],
    ["sandbox", [sandbox === null ? "none" : `${sandbox.mode}, network ${sandbox.network}`]],
    ["sessions", [`${sessions.store}: ${sessions.path}  (${sessions.source})`]],
    ["settings", [file(inForce.settings)]],
    ["credentials", [file(inForce.credentials)]],
    ["keys", keys.map(({ name, source }) => `${name}  (${source === null ? "not set" : Keys.places[source]})`)],
    ["proxies", orNone(proxies.map(({ name, value }) => `${name}=${value}`))],
    ["environment", orNone(environment.map(({ name, value }) => (value === null ? name : `${name}=${value}`)))]
  ]
}
