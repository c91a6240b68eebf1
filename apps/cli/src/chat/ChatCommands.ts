/**
 * The commands that only a chat can serve, for as long as a session is shown in it.
 */
import { Commands } from "@dsh/commands/Commands"
import type { Command, CommandError } from "@dsh/commands/Commands"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { From } from "../Request.ts"

/** What comes after this session: nothing, or another one. */
export type Next = { readonly _tag: "Leave" } | { readonly _tag: "Open"; readonly from: From }

export interface Options {
  /** Takes effect when the command is done. */
  readonly go: (next: Next) => void
  /** What was used so far, in a line or two. */
  readonly usage: () => string
}

const success =
  (effect: () => string | void): Command["handler"] =>
  () =>
    Effect.sync(() => {
      const text = effect()
      return { kind: "success", ...(typeof text === "string" && { text }) } as const
    })

const commands = ({ go, usage }: Options): ReadonlyArray<Command> => {
  const leave = success(() => go({ _tag: "Leave" }))
  const begin = success(() => go({ _tag: "Open", from: { _tag: "New" } }))
  return [
    { name: "exit", description: "Leave the chat; the session is kept.", handler: leave },
    { name: "quit", description: "The same as /exit.", handler: leave },
    { name: "new", description: "Begin a new session; this one is kept.", handler: begin },
    { name: "clear", description: "The same as /new.", handler: begin },
    {
      name: "resume",
      description: "Go on with another session of this folder.",
      input: { hint: "[ID]" },
      handler: ({ rawInput }) =>
        Effect.sync(() => {
          const id = rawInput.trim()
          if (id === "") return { kind: "error", text: "say which session, by its id" } as const
          go({ _tag: "Open", from: { _tag: "Session", id } })
          return { kind: "success" } as const
        })
    },
    { name: "usage", description: "Say what this session has used, and what that cost.", handler: success(usage) }
  ]
}

export const register = (options: Options): Effect.Effect<void, CommandError, Commands | Scope.Scope> =>
  Effect.flatMap(Commands, (registry) => Effect.forEach(commands(options), registry.register, { discard: true }))
