/**
 * What commands are given, to choose from: in a list when nothing is typed behind the name, and as completions while something is.
 */
import type { Agent } from "@dsh/agent/Agent"
import { ModelSelection } from "@dsh/agent/ModelSelection"
import * as ModelCommand from "@dsh/commands/ModelCommand"
import type { Llm } from "@dsh/llm/Llm"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import type { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { textOf } from "@dsh/protocol/Block"
import { Rewind } from "@dsh/rewind/Rewind"
import type { Session } from "@dsh/session/Session"
import type { SelectItem } from "@earendil-works/pi-tui"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Dialog from "./Dialog.ts"
import type { Front } from "./Front.ts"
import * as Safe from "./Safe.ts"
import * as Sessions from "./Sessions.ts"
import type { Theme } from "./Theme.ts"

export interface Options {
  readonly agent: Agent
  readonly front: Front
  readonly theme: Theme
  /** Gives a command. */
  readonly give: (line: string) => void
}

type Services = Llm | ModelSelection | PermissionPresets | Rewind | SessionPersistence

interface Choices {
  /** What may stand behind the name of a command. */
  readonly values: (command: string) => Effect.Effect<ReadonlyArray<SelectItem>, never, Llm | SessionPersistence>
  /** Puts the choices on the screen; nothing for a command without any. */
  readonly pick: (command: string) => Effect.Effect<void, never, Services> | undefined
}

const whatGoesBack = [
  { value: "", label: "The conversation and the files" },
  { value: "conversation", label: "The conversation" },
  { value: "files", label: "The files" }
]

/** What a turn was begun with. */
const promptOf = (session: Session, turn: number): string => {
  let isThere = false
  for (const event of session.range(0)) {
    if (event.type === "turn/start") isThere = event.data.turn === turn
    else if (isThere && event.type === "user/message" && event.data.source.kind === "user") {
      return Safe.text(textOf(event.data.content))
    }
  }
  return ""
}

const changed = (files: number): string => (files === 0 ? "" : files === 1 ? "1 file" : `${files} files`)

export const make = ({ agent, front, give, theme }: Options) =>
  Effect.gen(function* () {
    const presets = yield* PermissionPresets
    const selection = yield* ModelSelection
    const { session } = agent
    const cwd = session.header.cwd ?? process.cwd()

    const values: Choices["values"] = (name) => {
      switch (name) {
        case "permission":
          return Effect.succeed(
            Object.entries(presets.table).map(([value, { description = "" }]) => ({ value, label: value, description }))
          )
        case "model":
          return Effect.map(ModelCommand.known, (models) =>
            models.map(({ id, provider }) => ({ value: `${provider}/${id}`, label: id, description: provider }))
          )
        case "resume":
          return Effect.flatMap(Clock.currentTimeMillis, (now) => Sessions.choices(cwd, session.id, now))
        default:
          return Effect.succeed([])
      }
    }

    const close = () => front.pick(undefined)

    const ask = (
      title: string,
      items: ReadonlyArray<SelectItem>,
      choose: (value: string) => void,
      standing?: string
    ) => {
      if (items.length === 0) return front.say("notice", "there is nothing to choose from yet")
      front.pick(
        Dialog.make({
          theme,
          title: () => [theme.bold(title)],
          items,
          standing,
          hint: "Up, Down and Enter; Esc: leave it as it is",
          choose,
          cancel: close
        })
      )
    }

    const current = (name: string): string | undefined => {
      if (name === "permission") return presets.current(session)
      const { model, provider } = ModelCommand.current(agent, selection)
      return name === "model" ? `${provider}/${model}` : undefined
    }

    const pickValue = (name: string) =>
      Effect.map(values(name), (items) =>
        ask(
          `/${name}`,
          items,
          (value) => {
            close()
            give(`/${name} ${value}`)
          },
          current(name)
        )
      )

    /** Back to before a message, which then is there to be said otherwise. */
    const pickTurn = Effect.gen(function* () {
      const points = (yield* (yield* Rewind).points(session.id)).filter(({ isVisible }) => isVisible).reverse()
      const turns = points.map(({ files, prompt, turn }) => ({
        value: String(turn),
        label: Safe.oneLine(prompt),
        description: changed(files.length)
      }))
      ask("Back to before which message?", turns, (turn) =>
        ask("What goes back?", whatGoesBack, (what) => {
          close()
          if (what !== "files") front.editor.setText(promptOf(session, Number(turn)))
          give(`/rewind ${Number(turn) - 1} ${what}`.trimEnd())
        })
      )
    }).pipe(Effect.catchAll(({ code, message }) => Effect.sync(() => front.say("failure", `${code}: ${message}`))))

    const choices: Choices = {
      values,
      pick: (name) =>
        name === "rewind" ? pickTurn : ["permission", "model", "resume"].includes(name) ? pickValue(name) : undefined
    }
    return choices
  })
