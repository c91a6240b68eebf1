/**
 * Values of a configuration that are only known where it is used: an environment variable, a path under the home folder or the working
 * folder, whether this is a certain platform. They are data; nothing is evaluated.
 *
 *   timeoutMs: 60000
 *   baseUrl: !env { name: DEEPSEEK_BASE_URL, default: https://api.deepseek.com }
 *   root: !home sessions
 *   disabled: !platform win32
 */

export type Dynamic = EnvValue | PathValue | PlatformValue

/** A marker of its own, so that no plain data is taken for one. */
abstract class Value {
  abstract readonly kind: string
}

/** The value of a variable; without one the default, and without that the option counts as left out. */
export class EnvValue extends Value {
  readonly kind = "env"
  readonly variable: string
  readonly fallback: unknown
  constructor(variable: string, fallback?: unknown) {
    super()
    this.variable = variable
    this.fallback = fallback
  }
}

/** A path under the home folder of the product, or under the working folder. */
export class PathValue extends Value {
  readonly kind: "home" | "cwd"
  /** Relative; empty for the folder itself. */
  readonly path: string
  constructor(kind: "home" | "cwd", path: string) {
    super()
    this.kind = kind
    this.path = path
  }
}

/** Whether this is one of these platforms, in the words of Node: `linux`, `darwin`, `win32`. */
export class PlatformValue extends Value {
  readonly kind = "platform"
  readonly platforms: ReadonlyArray<string>
  constructor(platforms: ReadonlyArray<string>) {
    super()
    this.platforms = platforms
  }
}

export const isDynamic = (value: unknown): value is Dynamic => value instanceof Value

/** What they are looked up in. */
export interface Surroundings {
  readonly env: (name: string) => string | undefined
  /** Absolute. */
  readonly home: string
  readonly cwd: string
  readonly platform: string
}

const under = (folder: string, path: string): string => (path === "" ? folder : `${folder}/${path}`)

const lookUp = (value: Dynamic, at: Surroundings): unknown => {
  switch (value.kind) {
    case "env":
      return at.env(value.variable) ?? value.fallback
    case "home":
      return under(at.home, value.path)
    case "cwd":
      return under(at.cwd, value.path)
    case "platform":
      return value.platforms.includes(at.platform)
  }
}

/** `value` with every dynamic part replaced. A key whose value is not there is left out. */
export const resolve = (value: unknown, at: Surroundings): unknown => {
  if (isDynamic(value)) return lookUp(value, at)
  if (Array.isArray(value)) return value.map((item) => resolve(item, at))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const resolved = resolve(item, at)
      return resolved === undefined ? [] : [[key, resolved]]
    })
  )
}

/** The variables a value depends on. */
export const variables = (value: unknown): ReadonlyArray<string> => {
  if (value instanceof EnvValue) return [value.variable, ...variables(value.fallback)]
  if (isDynamic(value) || typeof value !== "object" || value === null) return []
  return Object.values(value).flatMap(variables)
}

/** A switch that may be dynamic. A variable is on unless it is empty, `0`, `false` or `no`. */
export const isOn = (value: boolean | Dynamic, at: Surroundings): boolean => {
  const resolved = isDynamic(value) ? lookUp(value, at) : value
  return typeof resolved === "string" ? !["", "0", "false", "no"].includes(resolved.toLowerCase()) : resolved === true
}
