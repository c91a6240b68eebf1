export interface Options {
  /** Absolute path of the entry module. */
  readonly input: string
  /** Absolute path of the folder for the chunks. */
  readonly out: string
  /** Packages that are not bundled. */
  readonly external?: ReadonlyArray<string>
}

/** Bundles the entry; the path of its chunk. */
export const bundle: (options: Options) => Promise<string>
