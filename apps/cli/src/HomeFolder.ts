/**
 * Where the product keeps what it has to remember: `$DSH_HOME`, else `~/.dsh`.
 */
import { fileNames } from "@dsh/settings/Settings"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join, resolve } from "node:path"

/** Absolute. It may not exist yet. */
export const home: Effect.Effect<string> = Config.string("DSH_HOME").pipe(
  Config.withDefault(""),
  Effect.orDie, // the environment holds nothing but strings
  Effect.map((folder) => (folder.trim() === "" ? join(homedir(), ".dsh") : resolve(folder)))
)

/** It, if there are settings in it: who has none does not pay for reading them. */
export const withSettings: Effect.Effect<string | undefined> = Effect.map(home, (folder) =>
  fileNames.some((name) => existsSync(join(folder, name))) ? folder : undefined
)

/** The folder of the session logs. */
export const sessions: Effect.Effect<string> = Effect.map(home, (folder) => join(folder, "sessions"))

/** What was kept of files that sessions changed. */
export const snapshots: Effect.Effect<string> = Effect.map(home, (folder) => join(folder, "rewind"))

/** The database of those who keep their sessions in one. */
export const database: Effect.Effect<string> = Effect.map(home, (folder) => join(folder, "sessions.sqlite"))
