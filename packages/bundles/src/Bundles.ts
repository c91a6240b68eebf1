/**
 * The bundles that are in the box, and the profiles made of them.
 *
 * A row whose value differs between profiles is not given one here: each bundle on top states it completely.
 */
import { EnvValue, PathValue } from "@dsh/compose/Dynamic"
import { rows } from "@dsh/compose/Row"
import type { PatchLayer, Row } from "@dsh/compose/Row"

const home = (path = "") => new PathValue("home", path)
const env = (name: string, fallback?: unknown) => new EnvValue(name, fallback)

/** What of the home folder commands and tools may not look at: keys, and what was said and changed in other sessions. */
const hidden = [
  ".credentials.yaml",
  ".credentials.yaml.lock",
  ".env",
  "chat-history.jsonl",
  "rewind",
  "sessions",
  "sessions.sqlite",
  "sessions.sqlite-wal",
  "sessions.sqlite-shm"
].map(home)

const mode = env("DSH_PERMISSION_MODE", "workspace-write")

const seams: ReadonlyArray<Row> = [
  { id: "session", name: "@dsh/session/Sessions" },
  { id: "llm", name: "@dsh/llm/Llm" },
  { id: "tools", name: "@dsh/tools/Tools" },
  { id: "prompt", name: "@dsh/prompt/SystemPrompt" },
  { id: "agent", name: "@dsh/agent/AgentHooks" },
  { id: "platform", name: "@effect/platform-node" },
  { id: "http", name: "@dsh/http/HttpClientNode" },
  { id: "http-guarded", name: "@dsh/http/GuardedHttp" }
]

const world: ReadonlyArray<Row> = [
  { id: "sandbox", name: "@dsh/sandbox/Sandbox" },
  { id: "sandbox-policy", name: "@dsh/sandbox/SandboxPolicyLocal", config: { mode, network: "on", hidden } },
  { id: "confinement", name: "@dsh/sandbox/ToolConfinement" },
  { id: "fs", name: "@dsh/sandbox/FsConfined" },
  { id: "subprocess", name: "@dsh/sandbox/SubprocessConfined" },
  { id: "shell", name: "@dsh/shell/BashSandbox", config: { timeoutMs: 60_000 } },
  { id: "jobs", name: "@dsh/shell/JobsLocal" },
  { id: "job-notices", name: "@dsh/shell/JobNotices" },
  { id: "observed-files", name: "@dsh/files/ObservedFiles" },
  { id: "spill-store", name: "@dsh/spill/SpillFs" },
  { id: "markdown", name: "@dsh/web/MarkdownThread" },
  { id: "web", name: "@dsh/web/Web" },
  {
    id: "attachments",
    name: "@dsh/attachments/AttachmentsLocal",
    config: { root: home("attachments") },
    disabled: true
  }
]

const model: ReadonlyArray<Row> = [
  { id: "llm-deepseek", name: "@dsh/llm/LlmDeepSeek" },
  { id: "output-limit", name: "@dsh/llm/LlmOutputLimit" },
  { id: "retry", name: "@dsh/llm/LlmRetry" },
  { id: "repetition", name: "@dsh/llm/LlmRepetition" },
  { id: "cassette", name: "@dsh/llm/LlmCassette", disabled: true }
]

const guards: ReadonlyArray<Row> = [
  { id: "tool-timeout", name: "@dsh/tools/ToolTimeout" },
  { id: "file-recording", name: "@dsh/rewind/FileRecording", config: { root: home("rewind") } },
  { id: "spill", name: "@dsh/spill/SpillPolicy", config: { maxInlineBytes: 50_000 } },
  { id: "repeat-guard", name: "@dsh/agent/RepeatGuard" },
  { id: "budgets", name: "@dsh/agent/BudgetsPerTree", disabled: true },
  { id: "invariants", name: "@dsh/session/Invariants", disabled: true },
  { id: "request-invariant", name: "@dsh/loop/RequestInvariant", disabled: true }
]

/** Tools for programs, where they are asked for. */
const programs: ReadonlyArray<Row> = [
  { id: "code-runtime-host", name: "@dsh/code-mode/CodeRuntimeQuickJs", disabled: true },
  {
    id: "code-mode",
    name: "@dsh/code-mode/CodeMode",
    config: { mode: env("DSH_TOOLS_MODE", "native") },
    disabled: true
  }
]

const permission: ReadonlyArray<Row> = [
  { id: "approval", name: "@dsh/permission/Approval" },
  { id: "permission-presets", name: "@dsh/permission/PermissionPresets", config: { preset: mode } },
  {
    id: "rules",
    group: [
      { id: "shell-syntax", name: "@dsh/permission/ShellSyntaxTreeSitter" },
      { id: "permission-rules", name: "@dsh/permission/PermissionRulesFile", config: { folder: home() } },
      { id: "permission-policy", name: "@dsh/permission/PermissionPolicy" },
      { id: "web-approval", name: "@dsh/permission/WebApproval" }
    ]
  }
]

const memory: ReadonlyArray<Row> = [
  { id: "persistence", name: "@dsh/persistence/PersistenceJsonl", config: { root: home("sessions") } },
  {
    id: "persistence-sqlite",
    name: "@dsh/persistence-sqlite/PersistenceSqlite",
    config: { file: home("sessions.sqlite") },
    disabled: true
  },
  { id: "write-behind", name: "@dsh/persistence/WriteBehind" },
  { id: "checkpoints", name: "@dsh/persistence/Checkpoints" }
]

const told: ReadonlyArray<Row> = [
  { id: "prompt-variables", name: "@dsh/prompt/PromptVariables" },
  {
    id: "identity",
    name: "@dsh/prompt/PromptSection",
    config: {
      name: "harness:identity",
      order: -100,
      text: "You run in dsh, the Effect edition of DeepSeek Harness."
    }
  }
]

const base: PatchLayer = rows("bundle base", [
  ...seams,
  ...memory,
  ...world,
  ...permission,
  ...model,
  ...guards,
  ...programs,
  ...told,
  {
    id: "agent-presets",
    name: "@dsh/compose/AgentPresets",
    config: { standing: "standard", folder: home(".agent-presets") }
  },
  { id: "loop", name: "@dsh/loop/AgentLoop" }
])

const headless: PatchLayer = rows("bundle headless", [
  { id: "unattended", name: "@dsh/permission/ApprovalContext" },
  {
    id: "alone",
    name: "@dsh/prompt/PromptSection",
    config: {
      name: "deployment:surface",
      order: -98,
      text: "You work alone: nobody answers questions while you work."
    }
  }
])

const chat: PatchLayer = rows("bundle chat", [
  { id: "attended", name: "@dsh/permission/ApprovalContext", config: { attended: true } },
  {
    id: "company",
    name: "@dsh/prompt/PromptSection",
    config: {
      name: "deployment:surface",
      order: -98,
      text:
        "The user reads along in a terminal, may write to you while you work, and answers when you have finished. What you write is " +
        "shown as Markdown."
    }
  },
  { id: "commands", name: "@dsh/commands/Commands" },
  { id: "help-command", name: "@dsh/commands/HelpCommand" },
  { id: "model-command", name: "@dsh/commands/ModelCommand" },
  { id: "permission-command", name: "@dsh/permission/PermissionCommand" },
  { id: "rewind", name: "@dsh/rewind/RewindLocal", config: { root: home("rewind") } },
  { id: "rewind-command", name: "@dsh/rewind/RewindCommand" },
  { id: "path-completion", name: "@dsh/context/FileReferencesLocal" }
])

/** In the order in which a listing shows them. */
export const bundles: Readonly<Record<string, PatchLayer>> = { base, headless, chat }

/** The profiles that need no folder to be used. */
export const templates: Readonly<
  Record<string, { readonly bundles: ReadonlyArray<string>; readonly patchReload: "live" | "startup" }>
> = {
  headless: { bundles: ["base", "headless"], patchReload: "startup" },
  chat: { bundles: ["base", "chat"], patchReload: "startup" },
  sdk: { bundles: ["base"], patchReload: "startup" },
  "sdk-minimal": { bundles: ["base"], patchReload: "startup" },
  acp: { bundles: ["base"], patchReload: "startup" },
  web: { bundles: ["base"], patchReload: "live" }
}

/** Profiles that speak with a program or a browser, which this version cannot yet. */
export const withoutSurface: ReadonlyArray<string> = ["sdk", "sdk-minimal", "acp", "web"]
