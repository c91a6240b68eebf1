/**
 * What the process says when it ends. Scripts rely on these numbers, so they live in one place.
 */

/** A number from 0 to 255. */
export type ExitCode = number

export const completed = 0
/** The agent failed, was aborted or was cut short. */
export const failed = 1
/** The command line made no sense; nothing was started. */
export const usage = 2
/** Configuration, credentials, composition or sandbox. */
export const configuration = 3
/** A budget or a time limit ended the run. */
export const budget = 124

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/** The signals that ask a command to end. */
export type Signal = keyof typeof signals

export const allSignals: ReadonlyArray<Signal> = ["SIGHUP", "SIGINT", "SIGTERM"]

/** 128 + its number, as shells have it. */
export const ofSignal = (signal: Signal): ExitCode => 128 + signals[signal]
