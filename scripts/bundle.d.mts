export interface Options {
  /** Absolute path of the entry module. */
  readonly input: string
  /** Absolute path of the folder for the chunks. */
  readonly out: string
  /** Packages that are not bundled. */
  readonly external?: ReadonlyArray<string>
  /**
   * Absolute path of a module that `input` imports dynamically, never to run beside anything else it imports. It becomes
   * one chunk with a copy of all it imports statically, and what it imports dynamically lies over that: chunks that share cost a file, a script, a property definition for each name
   * that crosses their border, and code that only the others use.
   */
  readonly alone?: string
  /** Absolute path of a module that exports `modules`: in its place the bundle has everything that extensions may import. */
  readonly shared?: string
  /** Whether each chunk is a function as Node makes of a module, for a loader of one's own. Default false: `require` loads it. */
  readonly wrapped?: boolean
}

/** Bundles the entry; the path of its chunk. */
export const bundle: (options: Options) => Promise<string>
