/**
 * The agent that a run goes on with, or begins with.
 */
import { Agents } from "@dsh/agent/Agents"
import * as LlmDeepSeek from "@dsh/llm/LlmDeepSeek"
import { PermissionPresets } from "@dsh/permission/PermissionPresets"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { SessionId } from "@dsh/protocol/Ids"
import type { SessionHeader } from "@dsh/protocol/SessionHeader"
import type { Session } from "@dsh/session/Session"
import { Fs } from "@dsh/world/Fs"
import * as Effect from "effect/Effect"
import * as Choice from "../AgentPresets/Choice.ts"
import * as Failure from "../Failure.ts"
import { Output } from "../Output.ts"
import * as Preset from "../Permissions/Preset.ts"
import type { From } from "../Request.ts"
import { shipped } from "../RunSettings.ts"
import type { DefaultModel } from "../RunSettings.ts"

export interface Options {
  readonly model: string | undefined
  /** What a new agent uses when the command line names no model. */
  readonly defaultModel?: DefaultModel
  readonly from: From
  /** What kind of agent it is. Left out: the standing one. A session that goes on stays what it is. */
  readonly preset?: Choice.Choice | undefined
  /** Absolute. A session that goes on keeps its own. */
  readonly cwd: string
  /** Somebody has asked for that folder. Default: it is just where they are. */
  readonly isCwdGiven?: boolean
  /** What tools may do. Left out: what the session's log says, or what new sessions may. */
  readonly permission?: Preset.Preset | undefined
}

export const start = (options: Options) =>
  Effect.gen(function* () {
    const agent = yield* begin(options)
    if (options.from._tag !== "New") {
      yield* inItsFolder(agent.session.header)
      yield* inThisFolder(agent.session.header, options)
    }
    yield* permitted(agent.session, options.permission)
    return agent
  })

const begin = Effect.fnUntraced(function* ({ cwd, defaultModel = shipped, from, model, preset }: Options) {
  const agents = yield* Agents
  const { provider } = LlmDeepSeek
  const chosen = model === undefined ? {} : { provider, model }
  switch (from._tag) {
    case "New":
      return yield* agents.create({
        cwd,
        ...(model === undefined ? defaultModel : chosen),
        ...(preset !== undefined && { preset: preset.id })
      })
    case "Session": {
      const id = SessionId(from.id)
      if (preset?.by === "flag") yield* asItIs(id, preset)
      return yield* agents.resume({ id, ...chosen })
    }
    case "Last": {
      const last = yield* lastIn(cwd)
      yield* Choice.kept(last, preset)
      return yield* agents.resume({ id: last.id, ...chosen })
    }
    case "Fork": {
      const source = SessionId(from.id)
      const header = yield* asItIs(source, preset)
      // A fork that cannot work is not even made.
      if (header !== undefined) yield* inItsFolder(header)
      return yield* agents.fork({
        source,
        ...(from.at !== undefined && { at: from.at }),
        ...chosen
      })
    }
  }
})

/** The header of a stored session, if there is one, that is of the preset asked for. */
const asItIs = (id: SessionId, preset: Choice.Choice | undefined) =>
  Effect.gen(function* () {
    const { sessions } = yield* (yield* SessionPersistence).list
    const header = sessions.find((stored) => stored.header.id === id)?.header
    if (header !== undefined) yield* Choice.kept(header, preset)
    return header
  })

/** A session goes on where it was; somewhere else its files are other files. */
const inItsFolder = ({ cwd, id }: SessionHeader) =>
  Effect.gen(function* () {
    if (cwd === undefined) return
    const fs = yield* Fs
    const found = Effect.flatMap(fs.resolve(cwd, { cwd }), fs.stat)
    // Where nobody may look its tools say so themselves.
    const isThere = yield* Effect.match(found, {
      onSuccess: (stat) => stat?.type === "directory",
      onFailure: ({ code }) => code !== "FS_NOT_DIRECTORY"
    })
    if (isThere) return
    return yield* Failure.configuration(
      "FOLDER_MISSING",
      `session ${id} works in ${cwd}, which is not there any more; put it back, or start a new session`
    )
  })

/** Somebody who names a folder means that one. */
const inThisFolder = ({ cwd, id }: SessionHeader, { cwd: asked, isCwdGiven = false }: Options) =>
  !isCwdGiven || cwd === undefined || cwd === asked
    ? Effect.void
    : Failure.usage(`session ${id} works in ${cwd}, not in ${asked}; leave out --cwd, or start a new session there`)

/** A session goes on with what it may do, unless this run is told otherwise. What is told to every run may only take away from it. */
const permitted = (session: Session, permission: Preset.Preset | undefined) =>
  Effect.gen(function* () {
    if (permission === undefined || permission.by === "default") return
    const presets = yield* PermissionPresets
    const current = presets.current(session)
    if (permission.by === "flag" || Preset.isNarrower(permission.standing, current)) {
      return yield* presets.set(session, permission.standing)
    }
    if (current === permission.standing) return
    const output = yield* Output
    output.notice(`session ${session.id} may do no more than before: its preset is ${current}; --permission changes it`)
  })

const lastIn = Effect.fnUntraced(function* (cwd: string) {
  const { sessions } = yield* (yield* SessionPersistence).list
  const last = sessions.find(({ header }) => header.cwd === cwd && header.origin === undefined)
  if (last !== undefined) return last.header
  return yield* Failure.fromError({
    code: "SESSION_NOT_FOUND",
    message: `there is no session of ${cwd} to go on with; leave out --continue to start one`
  })
})
