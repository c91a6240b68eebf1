// The layers of the house, lowest first, and where every package stands. `boundaries.mjs` enforces this table;
// adding a package or a backend is one line here.

/**
 * What a module of each role may import from *other* packages of ours, and whether it may touch the platform
 * (`node:*`, `@effect/platform-node`). `only` closes the list of third-party packages as well.
 */
export const roles = {
  kernel: { imports: [], only: ["effect"] },
  protocol: { imports: ["kernel"], only: ["effect"] },
  definition: { imports: ["kernel", "protocol", "definition"] },
  feature: { imports: ["kernel", "protocol", "definition"] },
  provider: { imports: ["kernel", "protocol", "definition", "support"], platform: true },
  // What several providers need to know of the operating system.
  support: { imports: ["kernel", "protocol", "definition"], platform: true },
  loop: { imports: ["kernel", "protocol", "definition"] },
  testing: { imports: ["kernel", "protocol", "definition", "feature", "provider"], platform: true },
  bundle: {
    imports: ["kernel", "protocol", "definition", "feature", "provider", "support", "loop", "testing", "bundle"],
    platform: true
  },
  app: {
    imports: ["kernel", "protocol", "definition", "feature", "provider", "support", "loop", "testing", "bundle"],
    platform: true
  }
}

/** Built-in modules that only compute. They reach nothing outside the process, so they are no platform. */
export const computing = ["node:buffer", "node:crypto", "node:path", "node:string_decoder", "node:util"]

/** Inside one package only this matters: a contract never leans on what implements or uses it. */
export const forbiddenInside = { definition: ["provider", "support", "feature"] }

/**
 * The role of a package is the role of its modules, except those listed by name. A module is the first path
 * segment under `src`: `src/LlmDeepSeek/Wire.ts` is a private part of `LlmDeepSeek` and shares its role.
 */
export const packages = {
  kernel: { role: "kernel" },
  protocol: { role: "protocol" },
  session: { role: "definition" },
  prompt: { role: "definition" },
  tools: { role: "definition", feature: ["ToolTimeout"] },
  agent: { role: "definition", feature: ["BudgetsPerTree", "RepeatGuard"] },
  llm: {
    role: "definition",
    provider: ["LlmDeepSeek", "LlmOpenAiCompatible", "LlmScripted"],
    feature: ["LlmCassette", "LlmFallback", "LlmOutputLimit", "LlmRepetition", "LlmRetry"]
  },
  persistence: {
    role: "definition",
    provider: ["InPlace", "PersistenceJsonl", "PersistenceMemory"],
    support: ["ProcessLock", "ProcessOwner"],
    feature: ["WriteBehind", "Checkpoints"]
  },
  "llm-effect-ai": { role: "provider" },
  "llm-pi-ai": { role: "provider" },
  "persistence-sqlite": { role: "provider" },
  notifications: { role: "definition", provider: ["NotificationsLocal"] },
  "structured-output": { role: "definition", provider: ["JsonSchemaForm"] },
  settings: {
    role: "definition",
    provider: [
      "CredentialsEnvOnly",
      "CredentialsLocal",
      "CredentialsMemory",
      "EnvFiles",
      "SettingsFile",
      "SettingsMemory",
      "SettingsText"
    ],
    support: ["DocumentFile", "SettingsFolder", "Watch"]
  },
  "bash-grammar": { role: "support" },
  permission: {
    role: "definition",
    provider: ["PermissionRulesFile", "ShellSyntaxTreeSitter"],
    feature: ["ApprovalContext", "PermissionCommand", "PermissionPolicy", "PermissionPresets", "WebApproval"]
  },
  commands: { role: "definition", feature: ["HelpCommand", "ModelCommand"] },
  http: { role: "provider", definition: ["GuardedHttp"] },
  world: { role: "definition", provider: ["FsLocal", "FsMemory", "SubprocessLocal"] },
  sandbox: {
    role: "definition",
    support: ["Worktree"],
    provider: ["FsConfined", "SandboxBwrap", "SandboxPolicyLocal", "SandboxSeatbelt", "SubprocessConfined"],
    feature: ["SandboxEscalation", "ToolConfinement"]
  },
  shell: {
    role: "definition",
    provider: ["BashLocal", "BashSandbox", "JobsLocal"],
    feature: ["BashTool", "JobNotices", "JobTools", "PersistentBashTool"]
  },
  terminal: { role: "definition", provider: ["TerminalBash", "TerminalsLocal"], feature: ["TerminalTools"] },
  "image-codec": { role: "support" },
  "quickjs-thread": { role: "support" },
  "code-mode": {
    role: "definition",
    provider: ["CodeRuntimeQuickJs"],
    feature: ["CodeMode", "RunCodeTool"]
  },
  attachments: { role: "definition", provider: ["AttachmentsLocal"], feature: ["RequestImages"] },
  spill: { role: "definition", provider: ["SpillFs", "SpillLocal"], feature: ["SpillPolicy"] },
  files: { role: "feature" },
  context: { role: "feature", provider: ["FileReferencesLocal"], definition: ["FileReferences"] },
  web: {
    role: "definition",
    provider: ["FetchHttp", "MarkdownThread", "SearchDeepSeek", "SearchExa", "SearchPerplexity", "SearchWikipedia"],
    support: ["SearchHttp"],
    feature: ["WebFetchTool", "WebSearchTool", "WebTool"]
  },
  compose: { role: "definition" },
  authoring: { role: "feature" },
  batch: {
    role: "definition",
    provider: ["BatchJournalFile", "WorkspacesCopy", "WorkspacesWorktree"],
    support: ["TaskFolder"],
    // It sets what a task may do, and permission presets are a feature with its contract in one module.
    bundle: ["Batch"]
  },
  rewind: {
    role: "definition",
    support: ["FileStates", "Snapshots"],
    provider: ["FileRecording", "RewindLocal"],
    feature: ["RewindCommand"]
  },
  bundles: { role: "bundle" },
  presets: { role: "support" },
  "extension-host": { role: "support" },
  loop: { role: "loop" },
  testing: { role: "testing" }
}

/** The role of `module` in `packages/<name>`, or undefined for a package the table does not know. */
export const roleOf = (name, module) => {
  const entry = packages[name]
  if (entry === undefined) return undefined
  const listed = Object.keys(roles).find((role) => entry[role]?.includes(module))
  return listed ?? entry.role
}
