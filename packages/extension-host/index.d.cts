/** Modules by the names that extensions import them by. */
export type Shared = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * Loads ES modules of extensions, written in JavaScript or TypeScript. Whatever of `shared` they import, at whatever depth, is the one
 * that is given here. To be called once in a process.
 */
export const open: (shared: Shared) => {
  /**
   * @param name As in a row: a package, or a module of one.
   * @param folder Absolute: where it is installed, under `node_modules`.
   */
  readonly load: (name: string, folder: string) => Promise<Readonly<Record<string, unknown>>>
}
