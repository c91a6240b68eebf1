/**
 * A world seen through one of its services, and the usual questions about paths in it.
 */
import * as Effect from "effect/Effect"
import { ContractViolation } from "../ContractViolation.ts"
import * as ContentVersion from "../ContentVersion.ts"
import type { FsTarget } from "../Fs.ts"
import type { Links, World } from "../FsContract.ts"

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
export const versionOf = (text: string): ContentVersion.ContentVersion => ContentVersion.of(bytesOf(text))

/** Equal byte by byte; JSON would be long. */
export const equal = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

export const open = ({ cwd, links, open: another }: World) =>
  Effect.map(another, (fs) => {
    const at = (path: string) => fs.resolve(path, { cwd })
    const through = <A, E>(path: string, use: (target: FsTarget) => Effect.Effect<A, E>) =>
      Effect.flatMap(at(path), use)
    return {
      fs,
      at,
      write: (path: string, text: string, expected?: string) =>
        through(path, (target) => fs.write(target, bytesOf(text), expected === undefined ? {} : { expected })),
      text: (path: string) => through(path, (target) => Effect.map(fs.readBytes(target), ({ bytes }) => textOf(bytes))),
      names: (path = ".") =>
        through(path, (target) => Effect.map(fs.listDir(target), (entries) => entries.map(({ name }) => name))),
      types: (path = ".") =>
        through(path, (target) =>
          Effect.map(fs.listDir(target), (entries) => entries.map(({ name, type }) => `${type} ${name}`))
        ),
      /** From the world's folder to wherever. */
      link: (destination: string, path: string) => made(links, "symbolic")(destination, `${cwd}/${path}`),
      hardLink: (existing: string, path: string) => made(links, "hard")(`${cwd}/${existing}`, `${cwd}/${path}`)
    }
  })

const made =
  (links: Links | undefined, kind: keyof Links) =>
  (from: string, path: string): Effect.Effect<void, ContractViolation> =>
    links?.[kind]?.(from, path) ??
    new ContractViolation({ message: `this world has no ${kind} links; leave out the rules that need them` })
