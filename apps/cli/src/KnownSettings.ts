/**
 * The sections of the settings that something here goes by.
 */
import * as AgentSettings from "@dsh/agent/AgentSettings"
import { suggest } from "@dsh/kernel/Nearest"
import * as PriceSettings from "@dsh/llm/PriceSettings"
import * as NotificationSettings from "@dsh/notifications/NotificationSettings"
import * as PermissionSettings from "@dsh/permission/PermissionSettings"
import type { Registration, SettingsError, Settings } from "@dsh/settings/Settings"
import { decode, show } from "@dsh/settings/Settings"
import type { Path } from "@dsh/settings/Settings"
import * as SettingsFile from "@dsh/settings/SettingsFile"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as Failure from "./Failure.ts"
import * as HomeFolder from "./HomeFolder.ts"
import { shipped } from "./RunSettings.ts"

/** With their types forgotten: whoever writes them has text. */
const known = <A, I>(registration: Registration<A, I>) => registration as Registration<unknown, unknown>

export const sections: ReadonlyArray<Registration<unknown, unknown>> = [
  known({ ...AgentSettings.defaultModel, base: shipped }),
  known(AgentSettings.loop),
  known(AgentSettings.presets),
  known(NotificationSettings.section),
  known(PermissionSettings.section),
  known(PriceSettings.section)
]

const names = sections.map(({ name }) => name)

/** What is wrong with a name at the top: nothing speaks of such a section. */
export const unknownSection = (name: string): string =>
  `"${name}" is no section of the settings; ${suggest(name, names)}`

/** The section of that name. Fails with exit code 2. */
export const find = (name: PropertyKey): Effect.Effect<Registration<unknown, unknown>, Failure.Failure> => {
  const found = sections.find((section) => section.name === name)
  return found === undefined ? Failure.usage(unknownSection(String(name))) : Effect.succeed(found)
}

/** Why there can be nothing at that path of a section; undefined when there can. */
export const unknownKey = ({ name, schema }: Registration<unknown, unknown>, path: Path): string | undefined => {
  // A map that holds nothing but the path is refused at the key that nobody knows.
  const probe = path.reduceRight<unknown>((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), null)
  const misfit = Either.match(decode({ path: [name], schema }, probe), {
    onLeft: (left) => left,
    onRight: () => undefined
  })
  return misfit?.reason.startsWith("is unexpected") === true ? `${show(misfit.path)} ${misfit.reason}` : undefined
}

/** Works on the settings of the user. What is wrong with them ends with exit code 3. */
export const using = <A>(
  use: (
    settings: Settings["Type"],
    folder: string
  ) => Effect.Effect<A, SettingsError | Failure.Failure, FileSystem.FileSystem | Scope.Scope>
): Effect.Effect<A, Failure.Failure> =>
  Effect.gen(function* () {
    const folder = yield* HomeFolder.home
    return yield* use(yield* SettingsFile.make({ folder }), folder)
  }).pipe(
    Effect.scoped,
    Effect.provide(NodeFileSystem.layer),
    Effect.mapError((error) =>
      error instanceof Failure.Failure ? error : Failure.configuration(error.code, error.message)
    )
  )
