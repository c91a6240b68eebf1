/**
 * Schema of the session header.
 */
import * as Schema from "effect/Schema"
import type * as Header from "../SessionHeader.ts"
import { Count, maybe, Name, SessionId } from "./Values.ts"

export const SessionHeader: Schema.Schema<Header.SessionHeader> = Schema.Struct({
  version: Count,
  id: SessionId,
  createdAt: Count.annotations({ description: "epoch milliseconds" }),
  cwd: maybe(
    Schema.String.pipe(Schema.pattern(/^(?:\/|[A-Za-z]:[\\/]|\\\\)/)).annotations({
      description: "absolute path of the workspace"
    })
  ),
  parentSession: maybe(SessionId),
  seedLength: maybe(Count.annotations({ description: "number of inherited events" })),
  origin: maybe(Schema.Literal("subagent")),
  delegationDepth: maybe(Count),
  agentPreset: maybe(Name)
}).annotations({ identifier: "SessionHeader" })
