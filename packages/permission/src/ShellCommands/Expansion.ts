/**
 * What bash would act on in text that a parser took for plain.
 */

/** After a dollar that stands for itself none of this can follow. */
export const starts = /[\w{(['"@*#?$!-]/

/** A backquote, or a dollar with something to expand. */
export const stands = /(?:^|[^\\])(?:\\\\)*(?:`|\$[\w{([@*#?$!-])/
