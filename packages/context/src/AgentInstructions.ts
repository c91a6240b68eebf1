/**
 * Instruction files (`AGENTS.md`, `CLAUDE.md` and their `.local` companions) as messages: what the user and the project want of any
 * agent that works here.
 *
 * The files of the home folder, and of every folder from the project's root down to the session's own, are told with the first prompt.
 * Those of other folders follow when a file tool has touched something there. Every turn begins with a look at all of them: what changed
 * is told again, what is gone is taken back, what is the same is not repeated. All of it is told in messages, so the prefix stays as it
 * is; and what was told is read from the conversation, so a session that was resumed, forked or compacted knows what its model knows.
 */
import { PreStep } from "@dsh/agent/AgentHooks"
import type { StepInput } from "@dsh/agent/AgentHooks"
import * as Ids from "@dsh/kernel/Ids"
import { text } from "@dsh/protocol/Block"
import { MessageId } from "@dsh/protocol/Ids"
import type { UserMessage } from "@dsh/protocol/Message"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import type { Session } from "@dsh/session/Session"
import { CurrentConfinement } from "@dsh/world/Confinement"
import type { ContentVersion } from "@dsh/world/ContentVersion"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { changesIn } from "./AgentInstructions/Changes.ts"
import * as Places from "./AgentInstructions/Places.ts"
import { readIn } from "./AgentInstructions/Reading.ts"
import { toldOf } from "./AgentInstructions/Told.ts"
import { wording } from "./AgentInstructions/Wording.ts"

declare module "@dsh/protocol/Message" {
  interface MessageSources {
    /** What instruction files say. A file without a version is not there any more. */
    readonly "agent-instructions": {
      readonly files: ReadonlyArray<{ readonly path: string; readonly version?: ContentVersion }>
    }
  }
}

export interface Options {
  /** A folder whose `AGENTS.md` holds for every project. Absolute. */
  readonly home?: string
  /** Of what one message quotes, in bytes; the broadest files are left out first. 0: no instructions at all. Default 65536. */
  readonly maxBytes?: number
  /** A larger file is left out. In bytes; default 1 MiB. */
  readonly maxSourceBytes?: number
}

/** What is known of a session besides its log. */
interface Seen {
  readonly place: Places.Place
  /** Folders that were looked into since the turn began. */
  readonly looked: Set<string>
  generation: number
}

export const layer = (options: Options = {}): Layer.Layer<never, never, PreStep | Fs> => {
  const { home, maxBytes = 65_536, maxSourceBytes = 1024 * 1024 } = options
  if (maxBytes <= 0) return Layer.empty
  const sessions = new WeakMap<Session, Seen>()

  const seenOf = Effect.fnUntraced(function* (session: Session, cwd: string) {
    const known = sessions.get(session)
    if (known !== undefined) return known
    const place = yield* Places.find(cwd, home)
    const seen: Seen = { place, looked: new Set(), generation: session.conversation.generation }
    sessions.set(session, seen)
    return seen
  })

  const news = Effect.fnUntraced(function* (session: Session, cwd: string, isFirst: boolean) {
    const seen = yield* seenOf(session, cwd)
    const told = toldOf(session)
    if (isFirst || seen.generation !== told.generation) seen.looked.clear()
    seen.generation = told.generation
    for (const file of told.takeTouched()) {
      if (Places.isInstruction(file)) seen.looked.delete(Places.folderOf(file))
    }
    const folders = Places.folders(seen.place, told.touched).filter(({ path }) => !seen.looked.has(path))
    if (folders.length === 0) return undefined
    for (const { path } of folders) seen.looked.add(path)
    const changes = changesIn(told.files, yield* readIn(folders, maxSourceBytes))
    if (changes.files.length === 0) return undefined
    return {
      id: MessageId(yield* Ids.fresh),
      role: "user",
      content: [text(wording(changes, maxBytes))],
      source: { kind: "agent-instructions", files: changes.files }
    } satisfies UserMessage
  })

  return PreStep.hook("agent instructions", (input, next) =>
    Effect.gen(function* () {
      const decision = yield* next(input)
      const { cwd } = input.agent.session.header
      if (decision.kind === "reject" || cwd === undefined || !input.due) return decision
      const message = yield* confined(input, news(input.agent.session, cwd, input.step === 1))
      return message === undefined ? decision : { ...decision, messages: behindPrompt(decision.messages, message) }
    })
  )
}

/** A project may name anything a link of its own; it is read with the eyes of the session, not with the user's. */
const confined = <A, R>({ agent }: StepInput, effect: Effect.Effect<A | undefined, never, R>) =>
  Effect.gen(function* () {
    const policy = yield* Effect.serviceOption(SandboxPolicy)
    if (Option.isNone(policy)) return yield* effect
    return yield* policy.value.of(agent.session).pipe(
      Effect.flatMap((confinement) => Effect.provideService(effect, CurrentConfinement, confinement)),
      Effect.catchTag("SandboxError", ({ message }) =>
        Effect.as(Effect.logWarning(`instruction files are not read: ${message}`), undefined)
      )
    )
  })

/** What a person says is read first, then what holds for all that is said; other things that came along are behind. */
const behindPrompt = (messages: ReadonlyArray<UserMessage>, message: UserMessage): ReadonlyArray<UserMessage> => {
  const prompt = messages.findLastIndex(({ source }) => source.kind === "user")
  return prompt < 0 ? [...messages, message] : messages.toSpliced(prompt + 1, 0, message)
}
