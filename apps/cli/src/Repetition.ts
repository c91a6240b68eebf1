/**
 * Tells V8 what kind of program this is.
 *
 * V8 gives a function room for type feedback, without which it is never optimised, only after it has run for a while. That helps
 * programs that end soon. An agent runs the same code once per step, so its first ten steps would be spent in the interpreter.
 */

/**
 * To be called when the agent is there and has nothing to do yet: code that runs once has run, and what is loaded later finds its code
 * cache made for other flags. From now on a function gets its room when it runs for the third time, not the ninth.
 *
 * The young generation stays as small as it was at the start, see bin/dsh.cjs: an agent leaves little behind per step. Steps take a
 * fifth less, a long answer an eighth less memory.
 */
export const prepare = (): void => {
  // The first request is about to load them.
  for (const name of ["node:http", "node:crypto"] as const) process.getBuiltinModule(name)
  setFlag("--interrupt-budget-factor-for-feedback-allocation=2")
}

/**
 * To be called when the first request is answered: from now on a function gets its room at once, and what is compiled is no longer what
 * the next start waits for, see bin/dsh.cjs.
 */
export const expect = (): void => {
  ;(process as NodeJS.EventEmitter).emit("dsh:answered")
  setFlag("--no-lazy-feedback-allocation")
}

const setFlag = (flag: string): void => process.getBuiltinModule("node:v8").setFlagsFromString(flag)
