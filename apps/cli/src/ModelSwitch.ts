/**
 * That another model goes on in the place of one that failed, for people.
 */
import type { SessionEvents } from "@dsh/protocol/SessionEvent"

export const text = ({ failure, from, to }: SessionEvents["llm/fallback"]): string =>
  `${from.model} failed (${failure.code}: ${failure.message}); ${to.model} goes on until the turn ends`
