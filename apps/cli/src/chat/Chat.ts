/**
 * The chat: a terminal, and one session after the other in it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type { PriceTable } from "@dsh/protocol/Prices"
import { join } from "node:path"
import * as ExitCode from "../ExitCode.ts"
import type * as Failure from "../Failure.ts"
import * as HomeFolder from "../HomeFolder.ts"
import * as Logs from "../Logs.ts"
import { Output } from "../Output.ts"
import type { From } from "../Request.ts"
import { failure as explained } from "../Work/Failed.ts"
import * as Origin from "../Work/Origin.ts"
import type { Next } from "./ChatCommands.ts"
import * as Conversation from "./Conversation.ts"
import { Front } from "./Front.ts"
import * as History from "./History.ts"
import * as News from "./News.ts"
import * as Theme from "./Theme.ts"
import * as Tty from "./Tty.ts"

export interface Options {
  readonly beginning: Origin.Options
  /** What is said first. */
  readonly first: string | undefined
  readonly prices: PriceTable
  readonly color: boolean
  readonly version: string
}

/** Faster than this nobody sees, and a slow connection would lag behind. In milliseconds. */
const betweenFrames = 16

const takeOver = (theme: Theme.Theme) =>
  Effect.gen(function* () {
    const dirty = yield* Queue.sliding<void>(1)
    const gone = yield* Deferred.make<void>()
    const changed = () => void dirty.unsafeOffer(undefined)
    let tty: Tty.Tty | undefined
    const front = new Front({
      theme,
      changed,
      size: () => tty?.size() ?? { columns: 80, rows: 24 },
      write: (text) => tty?.write(text),
      suspend: () => tty?.suspend(),
      now: () => Date.now()
    })
    tty = yield* Tty.open({
      key: (data) => front.key(data),
      changed: () => front.resized(),
      gone: () => Deferred.unsafeDone(gone, Effect.void),
      leave: () => front.leave()
    })
    const painting: Effect.Effect<never> = Queue.take(dirty).pipe(
      Effect.zipRight(Effect.sync(() => front.render())),
      Effect.zipRight(Effect.sleep(betweenFrames)),
      Effect.forever
    )
    yield* Effect.sync(() => front.isRunning && changed()).pipe(
      Effect.repeat(Schedule.spaced("1 second")),
      Effect.forkScoped
    )
    return { front, painting, gone: Deferred.await(gone), ring: () => tty?.write("\u0007") }
  })

/** What others say of the run goes where the conversation is. */
const spoken = (output: Output["Type"], front: Front): Output["Type"] => ({
  ...output,
  notice: (message) => front.say("notice", message),
  failure: ({ code, message }) => front.say("failure", `${code}: ${message}`)
})

export const run = ({ beginning, color, first, prices, version }: Options) =>
  Effect.gen(function* () {
    const output = yield* Output
    const theme = Theme.make(color)
    const file = join(yield* HomeFolder.home, "chat-history.jsonl")
    const typed = yield* History.load(file)
    let last: string | undefined

    const code = yield* Effect.gen(function* () {
      const { front, gone, painting, ring } = yield* takeOver(theme)
      const tell = yield* News.load(ring)
      for (const text of typed) front.editor.addToHistory(text)
      const said = spoken(output, front)

      /** One session; what comes after it. */
      const open = (from: From, message: string | undefined) =>
        Effect.gen(function* () {
          const options = { ...beginning, from }
          const agent = yield* Effect.mapError(Origin.start(options), explained(options))
          last = agent.session.id
          const remember = (text: string) => History.add(file, text)
          return yield* Conversation.run({ agent, front, theme, prices, first: message, remember, tell, version })
        }).pipe(Effect.scoped, Effect.provideService(Output, said), Logs.toOutput(said))

      /** A session that cannot be opened sends one back to where one was. */
      const another = (from: From, back: string): Effect.Effect<Next, Failure.Failure, Needed> =>
        Effect.catchAll(open(from, undefined), (failure) =>
          Effect.zipRight(
            Effect.sync(() => front.say("failure", `${failure.code}: ${failure.message}`)),
            open({ _tag: "Session", id: back }, undefined)
          )
        )

      const talk = Effect.gen(function* () {
        let next = yield* open(beginning.from, first)
        while (next._tag === "Open") next = yield* another(next.from, last ?? "")
        return ExitCode.completed
      })
      // A chat that cannot be painted any more is none.
      return yield* Effect.raceFirst(Effect.raceFirst(talk, painting), Effect.as(gone, ExitCode.ofSignal("SIGHUP")))
    }).pipe(Effect.scoped)

    if (last !== undefined) output.notice(`session ${last} is kept; dsh chat --session ${last} goes on with it`)
    return code
  })

type Needed =
  | Effect.Effect.Context<ReturnType<typeof Origin.start>>
  | Effect.Effect.Context<ReturnType<typeof Conversation.run>>
