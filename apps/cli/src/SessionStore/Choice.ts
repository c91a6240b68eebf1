/**
 * What `DSH_SESSION_STORE` asks for. Loads nothing, for the first line of the program wants to know.
 */

export const variable = "DSH_SESSION_STORE"

/** As it was set; an empty variable is one that is not set. */
export const asked = (env: NodeJS.ProcessEnv): string => env[variable]?.trim() || "jsonl"

/** Whether sessions are kept as plain text. */
export const isPlain = (env: NodeJS.ProcessEnv): boolean => asked(env) === "jsonl"
