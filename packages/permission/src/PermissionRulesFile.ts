/**
 * `PermissionRules` from the user's settings and the project's own file. Both are looked at for every call, and read when they changed, so
 * that an edit counts at once; without either nothing is loaded.
 */
import * as DocumentFile from "@dsh/settings/DocumentFile"
import type { Op } from "@dsh/settings/DocumentFile"
import type { SettingsError } from "@dsh/settings/Settings"
import * as SettingsFolder from "@dsh/settings/SettingsFolder"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { PermissionRules } from "./PermissionRules.ts"
import type { RuleBook } from "./PermissionRules.ts"
import type { Effects, Rule } from "./Rules.ts"
import type { Given } from "./Verdict.ts"

export interface Options {
  /** Where the user's settings are. Absolute. */
  readonly folder: string
  /** The user's home folder. */
  readonly home: string
}

// As in `PermissionSettings`, which is not loaded without need.
const projectFile = ".dsh/permissions.yaml"

/** As coarse as the times of any file system. */
const unsettledMs = 2000

const effects = ["allow", "ask", "deny"] as const

type Lists = { readonly [Effect in Effects]?: ReadonlyArray<string> | undefined }

export const make = ({ folder, home }: Options): Effect.Effect<PermissionRules["Type"], never, FileSystem.FileSystem> =>
  Effect.map(Effect.context<FileSystem.FileSystem>(), (context) => {
    const none: RuleBook = { rules: [], home, notices: [] }
    let reads = 0
    const known = new Map<string, { readonly stamp: string; readonly book: RuleBook }>()
    const modules = Effect.promise(() => Promise.all([import("./Rules.ts"), import("./PermissionSettings.ts")]))

    const read = Effect.fnUntraced(function* (settings: string | undefined, project: string, cwd: string) {
      const [Rules, { Lists, section }] = yield* modules
      const mine =
        settings === undefined ? Option.none() : yield* DocumentFile.readSection(settings, section.name, section.schema)
      const theirs = yield* DocumentFile.read(project, Lists)
      const notices: Array<string> = []

      const rule = (effect: Effects, text: string, origin: string): ReadonlyArray<Given> =>
        // The schema of both files refuses what is no rule.
        Either.match(Rules.parse(text), { onLeft: () => [], onRight: (rule) => [{ effect, rule, origin }] })
      const all = (lists: Lists, origin: string) =>
        effects.flatMap((effect) => (lists[effect] ?? []).flatMap((text) => rule(effect, text, origin)))

      const user = Option.getOrUndefined(mine)
      const lists = Option.getOrElse(theirs, (): Lists => ({}))
      const isTrusted = user?.trustedProjects?.some((trusted) => trusted.replace(/\/+$/, "") === cwd) === true
      if (!isTrusted && lists.allow !== undefined && lists.allow.length > 0) {
        notices.push(
          `what ${project} allows is ignored; to let it count, add ${cwd} to permission.trustedProjects in the settings`
        )
      }
      const rules = [
        ...all(user?.rules ?? {}, settings ?? ""),
        ...all(isTrusted ? lists : { ...lists, allow: [] }, project)
      ]
      if (rules.length === 0) return { ...none, notices }
      // Who may change the rules has none.
      const files = [project, ...(settings === undefined ? [] : [settings])]
      const kept = files.flatMap((file) => rule("ask", `edit(${Rules.escape(file)})`, "rules are the user's to change"))
      return { rules: [...rules, ...kept], home, notices }
    })

    const stampOf = (file: string | undefined) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        if (file === undefined || !(yield* fs.exists(file))) return ""
        const { ino, mtime, size } = yield* fs.stat(file)
        const changed = Option.getOrUndefined(mtime)?.getTime()
        const now = yield* Clock.currentTimeMillis
        // Two edits of one moment may leave the same time and size.
        const isSettled = changed !== undefined && Math.abs(now - changed) > unsettledMs
        return [Option.getOrUndefined(ino), changed, size, ...(isSettled ? [] : [`read ${++reads}`])].join()
      }).pipe(Effect.orElseSucceed(() => ""))

    const of = (cwd: string): Effect.Effect<RuleBook, SettingsError> =>
      Effect.gen(function* () {
        const settings = yield* SettingsFolder.find(folder)
        const project = `${cwd}/${projectFile}`
        const [mine, theirs] = [yield* stampOf(settings), yield* stampOf(project)]
        if (mine === "" && theirs === "") return none
        const stamp = `${settings} ${mine} ${theirs}`
        const last = known.get(cwd)
        if (last?.stamp === stamp) return last.book
        const book = yield* read(settings, project, cwd)
        known.set(cwd, { stamp, book })
        return book
      }).pipe(Effect.provide(context))

    const edit = (change: (lists: Lists) => ReadonlyArray<Op>) =>
      Effect.flatMap(SettingsFolder.place(folder), (file) =>
        DocumentFile.edit(file, (value) => change(listsOf(value)))
      ).pipe(Effect.provide(context))

    return PermissionRules.of({
      of,
      add: (effect, rule) =>
        edit((lists) => {
          const list = lists[effect] ?? []
          if (list.includes(rule.text)) return []
          return [{ op: "set", path: ["permission", "rules", effect, list.length], value: rule.text }]
        }),
      remove: (rule) =>
        Effect.suspend(() => {
          let found = false
          return Effect.map(
            edit((lists) => {
              const ops = effects.flatMap((effect) => removals(effect, lists[effect] ?? [], rule))
              found = ops.length > 0
              return ops
            }),
            () => found
          )
        })
    })
  })

/** The last first: what stands behind an element moves up when it goes. */
const removals = (effect: Effects, list: ReadonlyArray<string>, { text }: Rule): ReadonlyArray<Op> =>
  list
    .flatMap((each, i): ReadonlyArray<Op> =>
      each === text ? [{ op: "unset", path: ["permission", "rules", effect, i] }] : []
    )
    .reverse()

/** What is in a document of settings, whatever else it may be. */
const listsOf = (value: Readonly<Record<string, unknown>>): Lists => {
  const at = (from: unknown, key: string): unknown =>
    typeof from === "object" && from !== null ? from[key as keyof typeof from] : undefined
  const rules = at(at(value, "permission"), "rules")
  return Object.fromEntries(
    effects.map((effect) => {
      const list = at(rules, effect)
      return [effect, Array.isArray(list) ? list.map(String) : []]
    })
  )
}

export const layer = (options: Options): Layer.Layer<PermissionRules, never, FileSystem.FileSystem> =>
  Layer.effect(PermissionRules, make(options))
