/**
 * Sections as plain data: laid over each other, changed, and compared.
 */
import type { Op, Path } from "../Settings.ts"

type Map = Readonly<Record<string, unknown>>

export const isMap = (value: unknown): value is Map =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A key of its own, whatever it is called: `__proto__` is one like any other. */
const own = (map: Map, key: string): unknown => (Object.hasOwn(map, key) ? map[key] : undefined)

const copy = (entries: Iterable<readonly [string, unknown]>): Map => Object.fromEntries(entries)

/** `over` on `under`, map by map; anything else is replaced as a whole. What is undefined is not there. */
export const merge = (under: unknown, over: unknown): unknown => {
  if (over === undefined) return under
  if (!isMap(under) || !isMap(over)) return over
  const keys = new Set([...Object.keys(under), ...Object.keys(over)])
  return copy(Array.from(keys, (key) => [key, merge(own(under, key), own(over, key))] as const))
}

/** The operations that merge `patch` into `at`. */
export const patching = (at: unknown, patch: unknown, path: Path = []): ReadonlyArray<Op> => {
  if (patch === undefined) return []
  if (!isMap(patch) || !isMap(at)) return [{ op: "set", path, value: patch }]
  return Object.entries(patch).flatMap(([key, value]) => patching(own(at, key), value, [...path, key]))
}

/** The operations that make `to` of `from`; what is the same in both is not touched. */
export const difference = (from: unknown, to: unknown, path: Path = []): ReadonlyArray<Op> => {
  if (to === undefined) return from === undefined ? [] : [{ op: "unset", path }]
  if (isMap(from) && isMap(to)) {
    return Array.from(new Set([...Object.keys(from), ...Object.keys(to)])).flatMap((key) =>
      difference(own(from, key), own(to, key), [...path, key])
    )
  }
  return isSame(from, to) ? [] : [{ op: "set", path, value: to }]
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** `value` after the operations. What is missing on the way is made; what is not there need not be unset. */
export const applied = (value: unknown, ops: ReadonlyArray<Op>): unknown =>
  ops.reduce<unknown>((at, op) => step(at, op.path, op), value)

const step = (at: unknown, [key, ...rest]: Path, op: Op): unknown => {
  if (key === undefined) return op.op === "set" ? op.value : undefined
  if (Array.isArray(at) || ((at === undefined || at === null) && typeof key === "number")) {
    const list: Array<unknown> = Array.isArray(at) ? [...at] : []
    const index = Number(key)
    const next = step(list[index], rest, op)
    if (next !== undefined) list[index] = next
    else if (index < list.length) list.splice(index, 1)
    return list.length === 0 && at === undefined ? undefined : list
  }
  const map = isMap(at) ? at : {}
  const name = String(key)
  const next = step(own(map, name), rest, op)
  if (next === undefined) {
    if (!(name in map)) return at
    return copy(Object.entries(map).filter(([other]) => other !== name))
  }
  return copy([
    ...Object.entries(map).filter(([other]) => other !== name || own(map, name) !== undefined),
    [name, next]
  ])
}
