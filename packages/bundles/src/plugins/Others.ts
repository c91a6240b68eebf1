/**
 * What few compositions name: other models, other stores, checks, recordings.
 */
import { AgentRequest, PreStep, RequestError } from "@dsh/agent/AgentHooks"
import { Attachments } from "@dsh/attachments/Attachments"
import * as TimeContext from "@dsh/context/TimeContext"
import * as Plugin from "@dsh/kernel/Plugin"
import { Llm, LlmStream } from "@dsh/llm/Llm"
import * as LlmCassette from "@dsh/llm/LlmCassette"
import * as LlmFallback from "@dsh/llm/LlmFallback"
import * as LlmOpenAiCompatible from "@dsh/llm/LlmOpenAiCompatible"
import * as RequestInvariant from "@dsh/loop/RequestInvariant"
import * as PersistenceMemory from "@dsh/persistence/PersistenceMemory"
import { SessionPersistence } from "@dsh/persistence/SessionPersistence"
import { SystemPrompt } from "@dsh/prompt/SystemPrompt"
import * as SandboxEscalation from "@dsh/sandbox/SandboxEscalation"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import { EventTypes } from "@dsh/session/EventTypes"
import * as Invariants from "@dsh/session/Invariants"
import { SessionCreated } from "@dsh/session/Sessions"
import { Execute, PreExecute } from "@dsh/tools/ToolHooks"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Schema from "effect/Schema"

const exact = { exact: true } as const
const Count = Schema.Int.pipe(Schema.positive())

const cassette = Plugin.make({
  name: "@dsh/llm/LlmCassette",
  description: "Records what models answer, or plays it back.",
  config: Schema.Struct({
    file: Schema.NonEmptyString.annotations({ description: "Where the answers are kept." }),
    mode: Schema.Literal("record", "replay").annotations({
      description: "`record` replaces the file; `replay` only reads it."
    })
  }),
  provides: [LlmCassette.LlmCassette],
  requires: [LlmStream, FileSystem.FileSystem],
  layer: LlmCassette.layer
})

const Route = Schema.Struct({
  provider: Schema.NonEmptyString,
  model: Schema.NonEmptyString,
  reasoningEffort: Schema.optionalWith(Schema.NonEmptyString, exact)
})

const fallback = Plugin.make({
  name: "@dsh/llm/LlmFallback",
  description: "Goes on with another model when one does not answer.",
  config: Schema.Struct({
    chain: Schema.NonEmptyArray(Route).annotations({ description: "Tried in this order, each once per turn." }),
    codes: Schema.optionalWith(Schema.Array(Schema.NonEmptyString), exact).annotations({
      description: "Failures to fall back on. Default: what may pass with time, and a used-up quota."
    })
  }),
  requires: [AgentRequest, RequestError, EventTypes],
  layer: LlmFallback.layer
})

const Model = Schema.Struct({
  id: Schema.NonEmptyString,
  contextWindow: Schema.optionalWith(Count, exact),
  maxTokens: Schema.optionalWith(Count, exact)
})

const openAiCompatible = Plugin.make({
  name: "@dsh/llm/LlmOpenAiCompatible",
  description: "Any server that speaks the chat completions of OpenAI.",
  config: Schema.Struct({
    provider: Schema.NonEmptyString.annotations({ description: "The route that sessions name, such as `openrouter`." }),
    name: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "For people. Default: the route."
    }),
    baseUrl: Schema.NonEmptyString.annotations({
      description: "What `/chat/completions` is appended to, such as `http://localhost:11434/v1`."
    }),
    keyName: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "The name of the key, never the key itself. Without one none is sent."
    }),
    models: Schema.optionalWith(Schema.Array(Model), exact).annotations({
      description: "Default: what the server lists."
    }),
    defaultContextWindow: Schema.optionalWith(Count, exact).annotations({
      description: "In tokens, for models nothing is known of. Default 128 000."
    }),
    maxTokens: Schema.optionalWith(Count, exact).annotations({
      description: "Output ceiling in tokens. Default: none is sent."
    }),
    efforts: Schema.optionalWith(Schema.Array(Schema.NonEmptyString), exact).annotations({
      description: "The reasoning efforts that may be asked for. Default: any."
    }),
    reasoningEffort: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "Used where nothing else is asked for. Default: none is sent."
    })
  }),
  requires: [Llm, HttpClient.HttpClient],
  uses: [Attachments],
  layer: LlmOpenAiCompatible.layerConfig
})

const requestInvariant = Plugin.make({
  name: "@dsh/loop/RequestInvariant",
  description: "Holds every request against what the log gives.",
  requires: [Llm, SessionCreated],
  layer: () => RequestInvariant.layer
})

const invariants = Plugin.make({
  name: "@dsh/session/Invariants",
  description: "Holds every event against the rules of the log.",
  requires: [SessionCreated],
  layer: () => Invariants.layer
})

const memory = Plugin.make({
  name: "@dsh/persistence/PersistenceMemory",
  description: "Session logs that are gone when the process ends.",
  provides: [SessionPersistence],
  layer: () => PersistenceMemory.layer
})

const escalation = Plugin.make({
  name: "@dsh/sandbox/SandboxEscalation",
  description: "Lets some tools ask to run one call unconfined.",
  config: Schema.Struct({
    tools: Schema.NonEmptyArray(Schema.NonEmptyString).annotations({ description: "Names of tools." })
  }),
  requires: [PreExecute, Execute, SandboxPolicy, SystemPrompt],
  layer: ({ tools }) => SandboxEscalation.layer(tools)
})

const time = Plugin.make({
  name: "@dsh/context/TimeContext",
  description: "Tells the model what time it is.",
  config: Schema.Struct({
    timeZone: Schema.optionalWith(Schema.NonEmptyString, exact).annotations({
      description: "An IANA name such as `Europe/Berlin`. Default: that of the process."
    }),
    refreshIntervalMs: Schema.optionalWith(Schema.NonNegativeInt, exact).annotations({
      description: "How old the last telling may be. Default 0: it is told before each step."
    })
  }),
  requires: [PreStep],
  layer: TimeContext.layer
})

export const plugins = [cassette, fallback, openAiCompatible, requestInvariant, invariants, memory, escalation, time]
