/**
 * Tells V8 what kind of program this is.
 *
 * V8 gives a function room for type feedback, without which it is never optimised, only after it has run for a while. That helps
 * programs that end soon. An agent runs the same code once per step, so its first fifty steps would be spent in the interpreter; with
 * room from the first call on, a step takes a third less.
 */

/**
 * To be called when everything that start-up needs has been loaded (what is loaded later finds its code cache made for other flags) and
 * the first request is out: for code that runs once, it makes everything slower.
 */
export const expect = (): void =>
  process.getBuiltinModule("node:v8").setFlagsFromString("--no-lazy-feedback-allocation")
