/**
 * The identifiers of the vocabulary. All are branded strings; an agent's id is its session's id.
 */
import * as Ids from "@dsh/kernel/Ids"
import type { Id } from "@dsh/kernel/Ids"

/** Any non-empty string; chosen by the caller or minted by the session store. */
export type SessionId = Id<"SessionId">
export const SessionId = Ids.brand<SessionId>()

/** Minted with the message, stable across inbox, log, replay, fork and rewrite of a tool result. */
export type MessageId = Id<"MessageId">
export const MessageId = Ids.brand<MessageId>()

/** One tool call: the provider's id, or one made once on ingress. Unique in its session. */
export type CallId = Id<"CallId">
export const CallId = Ids.brand<CallId>()
