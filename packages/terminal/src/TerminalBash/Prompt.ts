/**
 * A shell whose prompt can be told from whatever else is shown: before it there is a mark that only this shell knows, and it is always
 * the same.
 */
import type { Env } from "@dsh/world/AmbientEnv"

export interface Prompt {
  readonly env: Env
  readonly text: string
  /** The payload of the mark, with the status of the last command. */
  readonly mark: RegExp
}

const text = "dsh> "

/** @param nonce Letters and digits. */
export const make = (nonce: string): Prompt => ({
  text,
  mark: new RegExp(`^133;D;\\d+;${nonce}$`),
  env: {
    PS1: text,
    // Not for programs that are started here: the prompt of another shell is another prompt.
    PROMPT_COMMAND: `printf '\\033]133;D;%s;${nonce}\\007' "$?"; PS1='${text}'; export -n PS1 PROMPT_COMMAND`,
    // Nothing of the user's: no history file, no keys, no log-out after a while, no news.
    HISTFILE: "",
    INPUTRC: "/dev/null",
    TMOUT: undefined,
    MAIL: undefined,
    BASH_SILENCE_DEPRECATION_WARNING: "1"
  }
})
