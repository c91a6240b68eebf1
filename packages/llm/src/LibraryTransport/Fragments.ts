/**
 * How small the pieces of a tool call's arguments may be. Libraries read all that came so far with every piece, in the hope of an object,
 * so the pieces have to grow with the whole for the work not to grow with its square.
 */

/** The part of the whole that a piece has to be. */
const share = 16

/** Whether what is held back may go. */
export const isEnough = (held: string, whole: number): boolean => held.length * share >= whole
