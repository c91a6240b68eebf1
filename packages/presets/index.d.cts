/** Absolute: a folder for each preset. */
export const folder: string
