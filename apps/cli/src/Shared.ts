/**
 * The modules that extensions share with the command. There are none: most runs have no extensions, and then all of `effect` would be
 * loaded for nothing. In the bundle for runs that do, this module is another one (scripts/bundle/sharing.mjs).
 */
import type { Shared } from "@dsh/extension-host"

export const modules: Shared | undefined = undefined
