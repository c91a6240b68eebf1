/**
 * The tools of a coding agent: commands, background jobs, files, the web.
 */
import { AgentCreated, AgentDisposed } from "@dsh/agent/AgentHooks"
import * as ObservedFiles from "@dsh/files/ObservedFiles"
import { GuardedHttp } from "@dsh/http/GuardedHttp"
import * as Plugin from "@dsh/kernel/Plugin"
import * as LateTool from "@dsh/prompt/LateTool"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import { Sandbox } from "@dsh/sandbox/Sandbox"
import { Credentials } from "@dsh/settings/Credentials"
import * as JobNotices from "@dsh/shell/JobNotices"
import { JobSettled, Jobs } from "@dsh/shell/Jobs"
import * as JobsLocal from "@dsh/shell/JobsLocal"
import { Shell } from "@dsh/shell/Shell"
import { SpillStore } from "@dsh/spill/SpillStore"
import { Tools } from "@dsh/tools/Tools"
import * as FetchHttp from "@dsh/web/FetchHttp"
import { Markdown } from "@dsh/web/Markdown"
import * as MarkdownThread from "@dsh/web/MarkdownThread"
import * as Web from "@dsh/web/Web"
import { Fs } from "@dsh/world/Fs"
import { Subprocess } from "@dsh/world/Subprocess"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { cards } from "../ToolCards.ts"
import * as Late from "../world/Late.ts"

const commands = () => import("../tools/Commands.ts")
const files = () => import("../tools/Files.ts")
const pages = () => import("../tools/Pages.ts")

const Millis = Schema.Int.pipe(Schema.positive())
const exact = { exact: true } as const

const shell = Plugin.make({
  name: "@dsh/shell/BashSandbox",
  description: "Commands in a bash of their own each, confined as their session is.",
  config: Schema.Struct({
    timeoutMs: Schema.optionalWith(Millis, exact).annotations({
      description: "For commands that name no deadline. Default 120 000."
    }),
    maxTimeoutMs: Schema.optionalWith(Millis, exact).annotations({
      description: "Longer deadlines are cut to this. Default 600 000."
    }),
    maxOutputBytes: Schema.optionalWith(Millis, exact).annotations({
      description: "Bytes per stream that are shown. Default 64 000."
    })
  }),
  provides: [Shell],
  requires: [Subprocess, Sandbox],
  layer: Late.bash
})

const bash = Plugin.make({
  name: "@dsh/shell/BashTool",
  description: "The tool `bash`.",
  requires: [Tools, SystemPrompt, Shell],
  uses: [Jobs],
  // Without jobs it is told otherwise.
  layer: () =>
    Layer.unwrapEffect(
      Effect.map(Effect.serviceOption(Jobs), (running) =>
        Option.isNone(running)
          ? Layer.unwrapEffect(Effect.map(Effect.promise(commands), (all) => all.bash))
          : LateTool.layer(cards["@dsh/shell/BashTool"], () => commands().then((all) => all.bash))
      )
    )
})

const jobs = Plugin.make({
  name: "@dsh/shell/JobsLocal",
  description: "Background jobs.",
  config: Schema.Struct({
    maxPerSession: Schema.optionalWith(Millis, exact).annotations({
      description: "How many of a session may run at once. Default 10."
    })
  }),
  provides: [Jobs, JobSettled],
  requires: [AgentDisposed],
  layer: JobsLocal.layer
})

const jobTools = Plugin.make({
  name: "@dsh/shell/JobTools",
  description: "The tools `job_output`, `job_list` and `job_kill`.",
  requires: [Tools, SystemPrompt, Jobs],
  layer: () => LateTool.layer(cards["@dsh/shell/JobTools"], () => commands().then((all) => all.jobs))
})

const jobNotices = Plugin.make({
  name: "@dsh/shell/JobNotices",
  description: "Tells an agent when a job of its is over.",
  config: Schema.Struct({
    wake: Schema.optionalWith(Schema.Boolean, exact).annotations({
      description: "Whether an idle agent is woken. Default true."
    }),
    maxWakes: Schema.optionalWith(Schema.NonNegativeInt, exact).annotations({
      description: "How often without a person saying something in between. Default 3."
    })
  }),
  requires: [AgentCreated, JobSettled],
  layer: (options) => JobNotices.layer(options)
})

const observed = Plugin.make({
  name: "@dsh/files/ObservedFiles",
  description: "What of each file an agent has seen, so that nothing unseen is overwritten.",
  provides: [ObservedFiles.ObservedFiles],
  layer: () => ObservedFiles.layer
})

const read = Plugin.make({
  name: "@dsh/files/ReadTool",
  description: "The tool `read`.",
  requires: [Tools, SystemPrompt, Fs, ObservedFiles.ObservedFiles],
  layer: () => LateTool.layer(cards["@dsh/files/ReadTool"], () => files().then((all) => all.read))
})

const write = Plugin.make({
  name: "@dsh/files/WriteTool",
  description: "The tool `write`.",
  requires: [Tools, SystemPrompt, Fs, ObservedFiles.ObservedFiles],
  layer: () => LateTool.layer(cards["@dsh/files/WriteTool"], () => files().then((all) => all.write))
})

const edit = Plugin.make({
  name: "@dsh/files/EditTool",
  description: "The tool `edit`.",
  requires: [Tools, SystemPrompt, Fs, ObservedFiles.ObservedFiles],
  layer: () => LateTool.layer(cards["@dsh/files/EditTool"], () => files().then((all) => all.edit))
})

const glob = Plugin.make({
  name: "@dsh/files/GlobTool",
  description: "The tool `glob`.",
  requires: [Tools, SystemPrompt, Fs, Subprocess],
  uses: [SpillStore],
  layer: () => LateTool.layer(cards["@dsh/files/GlobTool"], () => files().then((all) => all.glob))
})

const grep = Plugin.make({
  name: "@dsh/files/GrepTool",
  description: "The tool `grep`.",
  requires: [Tools, SystemPrompt, Fs, Subprocess],
  uses: [SpillStore],
  layer: () => LateTool.layer(cards["@dsh/files/GrepTool"], () => files().then((all) => all.grep))
})

const provider = (description: string) => Schema.optionalWith(Schema.NonEmptyString, exact).annotations({ description })

const markdown = Plugin.make({
  name: "@dsh/web/MarkdownThread",
  description: "Pages as Markdown, converted in a thread of their own.",
  provides: [Markdown],
  layer: () => MarkdownThread.layer()
})

/** Providers are loaded with the first page or search. */
const web = Plugin.make({
  name: "@dsh/web/Web",
  description: "Searching the web and fetching pages, by providers that are loaded when they are used.",
  config: Schema.Struct({
    search: provider("The provider of searches. Default: `DSH_WEB_SEARCH_PROVIDER`, else the first that has a key."),
    fetch: provider("The provider of pages. Default: `DSH_WEB_FETCH_PROVIDER`, else the only one.")
  }),
  provides: [Web.Web],
  requires: [GuardedHttp, HttpClient.HttpClient],
  uses: [Credentials],
  layer: ({ fetch, search }) =>
    Layer.mergeAll(
      FetchHttp.layerConfig(),
      Web.layerSearch(Web.lazySearch({ id: "deepseek-official", load: () => import("@dsh/web/SearchDeepSeek") })),
      Web.layerSearch(Web.lazySearch({ id: "exa", load: () => import("@dsh/web/SearchExa") })),
      Web.layerSearch(Web.lazySearch({ id: "perplexity", load: () => import("@dsh/web/SearchPerplexity") })),
      Web.layerSearch(
        Web.lazySearch({ id: "wikipedia", isLastResort: true, load: () => import("@dsh/web/SearchWikipedia") })
      )
    ).pipe(
      Layer.provideMerge(
        fetch === undefined && search === undefined
          ? Web.layerConfig
          : Web.layer({
              ...(fetch !== undefined && { fetchProvider: fetch }),
              ...(search !== undefined && { searchProvider: search })
            })
      )
    )
})

const webSearch = Plugin.make({
  name: "@dsh/web/WebSearchTool",
  description: "The tool `web_search`.",
  requires: [Tools, SystemPrompt, Web.Web, Markdown],
  layer: () => LateTool.layer(cards["@dsh/web/WebSearchTool"], () => pages().then((all) => all.search))
})

const webFetch = Plugin.make({
  name: "@dsh/web/WebFetchTool",
  description: "The tool `web_fetch`.",
  requires: [Tools, SystemPrompt, Web.Web, Markdown],
  layer: () => LateTool.layer(cards["@dsh/web/WebFetchTool"], () => pages().then((all) => all.fetch))
})

export const plugins = [
  shell,
  bash,
  jobs,
  jobTools,
  jobNotices,
  observed,
  read,
  write,
  edit,
  glob,
  grep,
  markdown,
  web,
  webSearch,
  webFetch
]
