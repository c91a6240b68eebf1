/**
 * Tells the launcher, which decides how V8 runs the process (see bin/dsh.cjs), that from now on the same code runs again and again.
 */

/** To be called when the first request is answered: what is compiled from now on is not what the next start waits for. */
export const expect = (): void => void (process as NodeJS.EventEmitter).emit("dsh:answered")
