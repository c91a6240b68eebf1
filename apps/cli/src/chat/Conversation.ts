/**
 * One session in the chat: what is pressed becomes work of its agent, and what is logged is shown.
 */
import type { Agent } from "@dsh/agent/Agent"
import { ModelSelection } from "@dsh/agent/ModelSelection"
import * as Registered from "@dsh/commands/Commands"
import { Commands } from "@dsh/commands/Commands"
import * as Line from "@dsh/commands/Line"
import * as ModelCommand from "@dsh/commands/ModelCommand"
import { FileReferences } from "@dsh/context/FileReferences"
import type { Llm } from "@dsh/llm/Llm"
import { AnswerApproval } from "@dsh/permission/Approval"
import type { Outcome } from "@dsh/permission/Approval"
import type { News as Notification } from "@dsh/notifications/Notifications"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import type { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { textOf } from "@dsh/protocol/Block"
import { isRun } from "@dsh/protocol/ChunkRun"
import * as ContextSize from "@dsh/protocol/ContextSize"
import type { PriceTable } from "@dsh/protocol/Prices"
import type { Rewind } from "@dsh/rewind/Rewind"
import { Tools } from "@dsh/tools/Tools"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as UsageLine from "../UsageLine.ts"
import * as ChatCommands from "./ChatCommands.ts"
import type { Next } from "./ChatCommands.ts"
import * as Choices from "./Choices.ts"
import * as Completion from "./Completion.ts"
import type { Actions, Front } from "./Front.ts"
import * as News from "./News.ts"
import * as Status from "./Status.ts"
import type { Theme } from "./Theme.ts"
import { View } from "./View.ts"

export interface Options {
  readonly agent: Agent
  readonly front: Front
  readonly theme: Theme
  readonly prices: PriceTable
  /** Said as soon as it is open. */
  readonly first: string | undefined
  /** Remembers what was typed. */
  readonly remember: (text: string) => Effect.Effect<void>
  /** Tells who looks elsewhere. */
  readonly tell: News.Tell
  readonly version: string
}

type Services =
  | Commands
  | FileReferences
  | AnswerApproval
  | PermissionPresets
  | ModelSelection
  | Llm
  | Rewind
  | SessionPersistence

/** The items of a session that goes on which are shown again. */
const again = 40

const greeting = ({ agent, version }: Options, more: number): string => {
  const { cwd, id } = agent.session.header
  return [
    `dsh ${version} in ${cwd ?? "-"}`,
    `session ${id}`,
    "Enter sends, Alt+Enter begins a line, /help lists commands, Ctrl+C twice leaves",
    ...(more > 0 ? [`… and ${more} earlier items: dsh session show ${id}`] : [])
  ].join("\n")
}

/** Ends when something else is to be shown, with what that is. */
export const run = (options: Options): Effect.Effect<Next, never, Services | Scope.Scope> =>
  Effect.gen(function* () {
    const { agent, first, front, prices, remember, theme } = options
    const { session } = agent
    const cwd = session.header.cwd ?? process.cwd()
    const presets = yield* PermissionPresets
    const selection = yield* ModelSelection
    // Those of the realm of its agent, which sees what is registered outside.
    const commands = Registered.of(agent) ?? (yield* Commands)
    const files = yield* FileReferences
    const context = yield* Effect.context<Services>()
    const fork = yield* FiberSet.makeRuntime<Services>()
    const promise = yield* FiberSet.makeRuntimePromise<Services>()
    const next = yield* Deferred.make<Next>()

    const view = new View(prices)
    for (const event of session.range(0)) view.take(event)
    view.abandon()
    let begun = yield* Clock.currentTimeMillis
    const tell = (about: Pick<Notification, "event" | "message">) =>
      Effect.gen(function* () {
        const durationMs = (yield* Clock.currentTimeMillis) - begun
        const problem = yield* options.tell({ ...about, sessionId: session.id, cwd, durationMs })
        if (problem !== undefined) front.say("notice", problem)
      })
    yield* session.observe((entry) => {
      view.take(entry)
      front.changed()
      if (isRun(entry)) return
      if (entry.type === "turn/start") begun = entry.time
      else if (entry.type === "turn/end") {
        const about = News.ofTurn(entry.data.reason, view)
        if (about !== undefined) fork(tell(about))
      }
    })

    const fails = (error: { readonly code: string; readonly message: string }) =>
      Effect.sync(() => front.say("failure", `${error.code}: ${error.message}`))

    let wanted: Next | undefined
    const size = () => ContextSize.measure(session.conversation)
    yield* ChatCommands.register({
      go: (to) => (wanted = to),
      usage: () => [UsageLine.text(view.bill), UsageLine.context(size())].filter(Boolean).join("\n")
    }).pipe(Effect.catchAll(fails))

    const command = (line: string) =>
      commands.run(agent, line, { source: "chat" }).pipe(
        // A command that failed has said so in the log.
        Effect.catchAll((error) => (error._tag === "CommandError" ? Effect.void : fails(error))),
        Effect.zipRight(Effect.suspend(() => (wanted === undefined ? Effect.void : Deferred.succeed(next, wanted))))
      )

    const choices = yield* Choices.make({ agent, front, theme, give: (line) => void fork(command(line)) })

    const send = (text: string, how: "steer" | "queue") =>
      (how === "steer" && agent.status() === "running" ? agent.steer(text) : agent.followup(text)).pipe(
        Effect.catchAll(fails)
      )

    const submit = (text: string, how: "steer" | "queue") => {
      const named = Line.parse(text)
      if (named === undefined) return send(text.replace(/^\/\//, "/"), how)
      if (commands.get(named.name) !== undefined) {
        return (named.rawInput === "" ? choices.pick(named.name) : undefined) ?? command(text)
      }
      return Effect.sync(() => {
        front.editor.setText(text)
        front.say(
          "failure",
          `there is no command /${named.name}; /help lists them, and // begins a message with a slash`
        )
      })
    }

    const takeBack = Effect.suspend(() => {
      const { inbox } = session
      const waiting = [...inbox["next-step"], ...inbox["next-turn"]].filter(({ source }) => source.kind === "user")
      const message = waiting.at(-1)
      if (message === undefined) return Effect.void
      return Effect.map(agent.withdraw(message.id), () => {
        front.editor.setText([textOf(message.content), front.editor.getText()].filter((text) => text !== "").join("\n"))
        front.changed()
      })
    }).pipe(Effect.catchAll(fails))

    const actions: Actions = {
      submit: (text, how) => {
        const isPrivate = commands.get(Line.parse(text)?.name ?? "")?.recordInput === false
        fork(isPrivate ? submit(text, how) : Effect.zipRight(submit(text, how), remember(text)))
      },
      cancel: () => void fork(agent.cancel({ kind: "user" })),
      takeBack: () => void fork(takeBack),
      nextPermission: () => {
        // What asks nobody is never one key away.
        const names = Object.keys(presets.table).filter((name) => presets.table[name]?.approval === "ask")
        const at = names.indexOf(presets.current(session))
        fork(command(`/permission ${names[(at + 1) % names.length]}`))
      },
      leave: () => void fork(Deferred.succeed(next, { _tag: "Leave" }))
    }

    const point = Context.get(context, AnswerApproval)
    yield* point.use("chat", ({ callId, reason, toolName }) =>
      Effect.async<Outcome>((resume) => {
        fork(tell({ event: "approval", message: `may ${toolName} do this?` }))
        const takeItBack = front.ask({
          toolName,
          callId,
          reason,
          answer: (outcome) => resume(Effect.succeed(outcome))
        })
        return Effect.sync(takeItBack)
      })
    )

    const completion = Completion.make({
      commands: commands.list,
      values: (name) => promise(choices.values(name)),
      paths: (query) => promise(files.complete(query, cwd))
    })

    let used: { readonly length: number; readonly text: string } | undefined
    const shown = {
      view,
      cwd,
      tools: Option.getOrUndefined(Context.getOption(agent.realm as Context.Context<Tools>, Tools)),
      inbox: () => session.inbox,
      standing: () => {
        const { length } = session.conversation.messages
        if (used?.length !== length || view.isRunning) used = { length, text: Status.usage(view.bill, size()) }
        return {
          model: ModelCommand.current(agent, selection).model ?? "",
          permission: presets.current(session),
          usage: used.text
        }
      }
    }
    const from = Math.max(0, view.items.length - again)
    view.head(from, greeting(options, from))
    front.show(shown, actions, completion, from)
    if (first !== undefined) yield* submit(first, "steer")
    return yield* Effect.ensuring(
      Deferred.await(next),
      Effect.sync(() => front.hide())
    )
  })
