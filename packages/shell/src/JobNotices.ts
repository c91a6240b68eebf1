/**
 * Tells an agent that a background job of its is over, unless it knows. An idle agent is woken for it, a few times in a row at most:
 * after that it waits for somebody to say something, so that jobs that start jobs come to an end.
 */
import type { Agent } from "@dsh/agent/Agent"
import { AgentCreated } from "@dsh/agent/AgentHooks"
import * as Ids from "@dsh/kernel/Ids"
import * as Text from "@dsh/kernel/Text"
import { MessageId } from "@dsh/protocol/Ids"
import * as Message from "@dsh/protocol/Message"
import type { Session } from "@dsh/session/Session"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { JobSettled } from "./Jobs.ts"
import type { Job } from "./Jobs.ts"

export interface Options {
  /** Whether an idle agent is woken. Default true. */
  readonly wake?: boolean
  /** Without a person saying something in between. Default 3. */
  readonly maxWakes?: number
}

const plugin = "jobs"

const notice = ({ detail, id, label, status }: Job): string =>
  `The background job ${id} (${Text.ellipsis(label, 200)}) is over: ${status}${detail === undefined ? "" : `, ${detail}`}. ` +
  `Its output is read with job_output.`

/** How often it has been told since a person said something. */
const wakesOf = ({ conversation: { messages } }: Session): number => {
  let wakes = 0
  for (let i = messages.length - 1; i >= 0; i--) {
    const source = messages[i]?.source
    if (source?.kind === "user") break
    if (source?.kind === "plugin" && source.plugin === plugin) wakes++
  }
  return wakes
}

export const layer = ({ maxWakes = 3, wake = true }: Options = {}) => {
  const agents = new WeakMap<Session, Agent>()

  const known = AgentCreated.hook("job-notices", (agent) => Effect.sync(() => void agents.set(agent.session, agent)))

  const telling = JobSettled.hook("job-notices", ({ job, session, told }) =>
    Effect.gen(function* () {
      const agent = session === undefined ? undefined : agents.get(session)
      if (agent === undefined || told) return
      const summary = Text.ellipsis(`${job.id} is over: ${job.status}`, 120)
      const message = Message.fromPlugin(MessageId(yield* Ids.fresh), notice(job), { plugin, form: "notice", summary })
      const wakes = wake && wakesOf(agent.session) < maxWakes
      yield* wakes ? agent.steer(message) : agent.inject(message)
    }).pipe(
      // The agent may be gone by now, and then there is nobody to tell.
      Effect.ignoreLogged
    )
  )

  return Layer.merge(known, telling)
}
