/**
 * Rules as users keep them, under `permission` in their settings, and as a project brings them, in `.dsh/permissions.yaml`:
 *
 *   permission:
 *     rules:
 *       allow: ["bash(git log *)", "edit(src/**)"]
 *       ask: ["bash(git push *)"]
 *       deny: ["read(.env)"]
 *     preset: workspace-write
 *     trustedProjects: [/home/me/shop]
 *
 * A project has the three lists at the top of its file. They tighten what the user permits; what they allow counts in folders that the
 * user trusts, because who can change a project must not grant themselves anything.
 */
import type { Section } from "@dsh/settings/Settings"
import * as Schema from "effect/Schema"
import * as Rules from "./Rules.ts"

const List = Schema.optional(Schema.Array(Rules.Text))

export const Lists = Schema.Struct({ allow: List, ask: List, deny: List })

const Permission = Schema.Struct({
  rules: Schema.optional(Lists),
  preset: Schema.optional(Schema.NonEmptyString),
  trustedProjects: Schema.optional(Schema.Array(Schema.NonEmptyString))
})

export const section: Section<typeof Permission.Type, typeof Permission.Encoded> = {
  name: "permission",
  schema: Permission
}

/** Where a project keeps its rules, in its folder. */
export const projectFile = ".dsh/permissions.yaml"
