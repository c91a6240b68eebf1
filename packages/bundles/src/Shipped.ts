/**
 * The presets that are in the box, as the folders of `@dsh/presets` have them: known without reading a file, for every run needs one.
 */
import { PathValue } from "@dsh/compose/Dynamic"
import type { Preset } from "@dsh/compose/Preset"
import * as Effect from "effect/Effect"

const standard: Preset = {
  id: "standard",
  name: "Standard",
  description: "A coding agent: commands, files, search, the web.",
  order: 1,
  rows: [
    {
      id: "persona",
      name: "@dsh/prompt/PromptSection",
      config: {
        name: "deployment:persona",
        order: 0,
        text:
          "You are {{model}}, a coding agent. You work in the folder {{cwd}}. Look before you change anything, change no more than the " +
          "task asks for, check that your change does what it should, and finish with a short account of what you did."
      }
    },
    { id: "instructions", name: "@dsh/context/AgentInstructions", config: { home: new PathValue("home", "") } },
    { id: "file-references", name: "@dsh/context/FileReferencesPrompt" },
    { id: "bash", name: "@dsh/shell/BashTool" },
    { id: "job-tools", name: "@dsh/shell/JobTools" },
    { id: "read", name: "@dsh/files/ReadTool" },
    { id: "write", name: "@dsh/files/WriteTool" },
    { id: "edit", name: "@dsh/files/EditTool" },
    { id: "glob", name: "@dsh/files/GlobTool" },
    { id: "grep", name: "@dsh/files/GrepTool" },
    { id: "web-search", name: "@dsh/web/WebSearchTool" },
    { id: "web-fetch", name: "@dsh/web/WebFetchTool" }
  ]
}

const ptc: Preset = {
  id: "ptc",
  name: "Script first",
  description: "The standard agent, whose tools are functions of programs that it writes.",
  order: 2,
  extends: "standard",
  rows: [
    {
      id: "programs",
      isolate: true,
      group: [
        { id: "code-runtime", name: "@dsh/code-mode/CodeRuntimeQuickJs" },
        { id: "presentation", name: "@dsh/code-mode/Presentation", config: { mode: "ptc" } }
      ]
    }
  ]
}

const minimal: Preset = {
  id: "minimal",
  name: "Minimal",
  description: "Two tools and one sentence: a shell that goes on, and an editor.",
  order: 3,
  rows: [
    {
      id: "persona",
      name: "@dsh/prompt/PromptSection",
      config: {
        name: "deployment:persona",
        text: "You are a helpful software engineer assistant.",
        complete: true
      }
    },
    {
      id: "shell",
      isolate: true,
      group: [
        { id: "terminals", name: "@dsh/terminal/TerminalsLocal" },
        { id: "terminal-bash", name: "@dsh/terminal/TerminalBash" },
        { id: "bash", name: "@dsh/shell/PersistentBashTool", config: { timeoutMs: 300_000 } }
      ]
    },
    { id: "editor", name: "@dsh/files/StrReplaceEditorTool", config: { maxOutputChars: 16_000 } }
  ]
}

const cordis: Preset = {
  id: "cordis",
  name: "Creative mode",
  description: "Writes presets: a coding agent that can look at what it is made of. Trust it as you trust a shell.",
  order: 4,
  extends: "standard",
  rows: [{ id: "authoring", name: "@dsh/authoring/AuthoringTools" }]
}

export const presets: Readonly<Record<string, Preset>> = { standard, ptc, minimal, cordis }

/** Where the files are. Absolute. */
export const folder: Effect.Effect<string> = Effect.map(
  Effect.promise(() => import("@dsh/presets")),
  (presets) => presets.folder
)
