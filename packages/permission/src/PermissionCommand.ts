/**
 * `/permission`: how far the tools of this session may go.
 */
import * as Commands from "@dsh/commands/Commands"
import type { Result } from "@dsh/commands/Commands"
import * as Effect from "effect/Effect"
import { PermissionPresets } from "./PermissionPresets.ts"
import type { Table } from "./PermissionPresets.ts"

const listing = (table: Table, current: string): string =>
  [
    ...(Object.hasOwn(table, current) ? [] : [`* ${current}`]),
    ...Object.entries(table).map(([name, { description }]) => {
      const mark = name === current ? "*" : " "
      return description === undefined ? `${mark} ${name}` : `${mark} ${name}: ${description}`
    })
  ].join("\n")

export const layer = Commands.layerCommand({
  name: "permission",
  description: "Say how far tools may go, or change it.",
  input: { hint: "[PRESET]" },
  handler: ({ agent: { session }, rawInput }) =>
    Effect.gen(function* () {
      const presets = yield* PermissionPresets
      const wanted = rawInput.trim()
      if (wanted === "") return { kind: "success", text: listing(presets.table, presets.current(session)) } as const
      return yield* presets.set(session, wanted).pipe(
        Effect.as<Result>({ kind: "success", text: `tools of this session: ${wanted} from now on` }),
        Effect.catchTag("PresetError", ({ message }) => Effect.succeed<Result>({ kind: "error", text: message }))
      )
    })
})
