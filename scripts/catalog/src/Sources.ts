/**
 * What `sources.mjs` finds in the sources, as the generators get it.
 */

export interface ToolSource {
  readonly name: string
  readonly module: string
  /** Whether calls may run beside others. */
  readonly parallel: string
}

export interface EventSource {
  readonly type: string
  /** Where it is declared. */
  readonly module: string
  readonly doc: string
  /** What the members of its data are for. */
  readonly fields: Readonly<Record<string, string>>
}

export interface ServiceSource {
  readonly name: string
  readonly key: string
  readonly kind: "service" | "reference" | "emit" | "waterfall" | "serial" | "bail" | "parallel"
  readonly module: string
  readonly doc: string
  readonly providedBy: ReadonlyArray<LayerSource>
  readonly neededBy: ReadonlyArray<LayerSource>
}

export interface LayerSource {
  readonly module: string
  /** What it is exported as. */
  readonly name: string
}

export interface PackageSource {
  /** Without the scope. */
  readonly name: string
  readonly description: string
  /** Its layer in the house. */
  readonly role: string
  readonly dependsOn: ReadonlyArray<string>
}

export interface Sources {
  readonly services: ReadonlyArray<ServiceSource>
  readonly packages: ReadonlyArray<PackageSource>
  /** The layers of the house, lowest first. */
  readonly roles: ReadonlyArray<string>
  /** What the members of every event are for. */
  readonly envelope: Readonly<Record<string, string>>
  readonly tools: ReadonlyArray<ToolSource>
  readonly events: ReadonlyArray<EventSource>
}

/** Fails when what the sources define and what was booted are not the same: the page would lack something. */
export const assertSame = (
  what: string,
  defined: ReadonlyArray<string>,
  booted: ReadonlyArray<string>,
  list: string
): void => {
  const missing = defined.filter((name) => !booted.includes(name))
  const unknown = booted.filter((name) => !defined.includes(name))
  if (missing.length + unknown.length === 0) return
  throw new Error(
    `${what}: ${[
      ...missing.map((name) => `${name} is defined, but no Layer in ${list} brings it; add one`),
      ...unknown.map((name) => `${name} was brought by a Layer in ${list}, but no source defines it`)
    ].join("; ")}`
  )
}
