/**
 * Texts with stars in them; a star stands for any characters, or none.
 */

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** These parts in this order, with anything in between. */
export const between = (parts: ReadonlyArray<string>): RegExp => new RegExp(`^${parts.map(literally).join("[^]*")}$`)

export const compile = (pattern: string): RegExp => between(pattern.split("*"))
