/**
 * The environment of commands that nobody watches, wherever they run: no colours, no pagers, and nothing that would wait for an answer.
 */
import type { Env } from "@dsh/world/AmbientEnv"
import * as Context from "effect/Context"
import type { ShellRequest } from "./Shell.ts"

/** What whoever runs an agent has set for its commands: around a tool call it is there for what that call starts. */
export class AgentEnv extends Context.Reference<AgentEnv>()("@dsh/shell/CommandEnv/AgentEnv", {
  defaultValue: (): Env => ({})
}) {}

// An editor that fails makes `git commit` and `git rebase -i` fail with a message; one that succeeds would make them go ahead with
// a message or a plan nobody wrote.
const noEditor = "false"

const unattended: Env = {
  NO_COLOR: "1",
  FORCE_COLOR: undefined,
  CLICOLOR_FORCE: undefined,
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: noEditor,
  GIT_SEQUENCE_EDITOR: noEditor,
  EDITOR: noEditor,
  VISUAL: noEditor,
  SSH_ASKPASS_REQUIRE: "never"
}

/** The request may override anything but the facts. */
export const of = ({ env, facts }: Pick<ShellRequest, "env" | "facts">): Env => ({
  ...unattended,
  ...env,
  DSH_SHELL: "1",
  ...facts
})
