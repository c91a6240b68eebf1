/**
 * Looking at the file system without `node:fs/promises`, which takes longer to load than a first request may be kept waiting. Whoever
 * reads or writes a file pays for it then.
 */
import * as Fs from "node:fs"
import { promisify } from "node:util"

export const stat: (path: string) => Promise<Fs.Stats> = promisify(Fs.stat)
export const realpath: (path: string) => Promise<string> = promisify(Fs.realpath.native)
export const readlink: (path: string) => Promise<string> = promisify(Fs.readlink)
