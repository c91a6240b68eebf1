/**
 * Terminals, a shell that goes on from call to call, and the editor that models know from benchmarks.
 */
import { ObservedFiles } from "@dsh/files/ObservedFiles"
import * as StrReplaceEditorTool from "@dsh/files/StrReplaceEditorTool"
import * as Plugin from "@dsh/kernel/Plugin"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { SessionDisposed, Sessions } from "@dsh/session/Sessions"
import { Jobs } from "@dsh/shell/Jobs"
import * as PersistentBashTool from "@dsh/shell/PersistentBashTool"
import * as TerminalBash from "@dsh/terminal/TerminalBash"
import { Terminals } from "@dsh/terminal/Terminals"
import * as TerminalsLocal from "@dsh/terminal/TerminalsLocal"
import * as TerminalTools from "@dsh/terminal/TerminalTools"
import { PreExecute } from "@dsh/tools/ToolHooks"
import { Tools } from "@dsh/tools/Tools"
import { Fs } from "@dsh/world/Fs"
import { Subprocess } from "@dsh/world/Subprocess"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const
const Count = Schema.Int.pipe(Schema.positive())

const terminals = Plugin.make({
  name: "@dsh/terminal/TerminalsLocal",
  description: "The terminals of each session.",
  provides: [Terminals],
  requires: [Sessions, SessionDisposed],
  layer: () => TerminalsLocal.layer
})

const backend = Plugin.make({
  name: "@dsh/terminal/TerminalBash",
  description: "A type of terminal: a bash.",
  config: Schema.Struct({
    backendType: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "What it is called. Default `shell`."
    }),
    shellPath: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "A bash, by name or absolute path. Default `bash`."
    }),
    rows: Schema.optionalWith(Count, exact).annotations({ description: "Default 40." }),
    cols: Schema.optionalWith(Count, exact).annotations({ description: "Default 160." })
  }),
  requires: [Terminals, Subprocess],
  layer: TerminalBash.layer
})

const tools = Plugin.make({
  name: "@dsh/terminal/TerminalTools",
  description:
    "The tools `terminal_open`, `terminal_send`, `terminal_read`, `terminal_signal`, `terminal_list` and `terminal_close`.",
  config: Schema.Struct({
    maxResultBytes: Schema.optionalWith(Count, exact).annotations({
      description: "Bytes of terminal output in a result. Default 262 144."
    })
  }),
  requires: [Tools, SystemPrompt, PreExecute, Terminals],
  uses: [Jobs],
  layer: (options) => TerminalTools.layer(options)
})

const bash = Plugin.make({
  name: "@dsh/shell/PersistentBashTool",
  description: "The tool `bash` over one shell that goes on from call to call.",
  config: Schema.Struct({
    backendType: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "The type of terminal it runs on. Default `shell`."
    }),
    timeoutMs: Schema.optionalWith(Count, exact).annotations({
      description: "Milliseconds a command may take. Default 300 000."
    }),
    maxOutputChars: Schema.optionalWith(Count, exact).annotations({
      description: "Characters of output that are shown. Default 16 000."
    }),
    description: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "What the model is told of the tool and its surroundings."
    })
  }),
  requires: [Tools, SystemPrompt, PreExecute, Terminals],
  layer: (options) => PersistentBashTool.layer(options)
})

const editor = Plugin.make({
  name: "@dsh/files/StrReplaceEditorTool",
  description: "The tool `str_replace_editor`.",
  config: Schema.Struct({
    maxOutputChars: Schema.optionalWith(Count, exact).annotations({
      description: "Characters of a file that are shown. Default 16 000."
    })
  }),
  requires: [Tools, Fs, ObservedFiles],
  layer: (options) => StrReplaceEditorTool.layerWith(options)
})

export const plugins = [terminals, backend, tools, bash, editor]
