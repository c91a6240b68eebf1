/**
 * The full lane: everything but a plain `dsh run`, through `@effect/cli`.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import manifest from "../package.json" with { type: "json" }
import * as Argv from "./Argv.ts"
import * as Color from "./Color.ts"
import * as CommandLine from "./CommandLine.ts"
import * as Completions from "./Completions.ts"
import * as Dispatch from "./Dispatch.ts"
import * as ExitCode from "./ExitCode.ts"
import type { Failure } from "./Failure.ts"
import * as Help from "./Help.ts"
import * as Output from "./Output.ts"
import * as Process from "./Process.ts"
import * as Request from "./Request.ts"

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

export const start = (parsed: Argv.WellFormed): void => {
  const server = parsed._tag === "Invocation" && parsed.command === "mock-llm"
  Process.runMain(answer(parsed), Output.make(process), { server })
}

const answer = (parsed: Argv.WellFormed): Dispatch.Command => {
  switch (parsed._tag) {
    case "Invocation":
      return CommandLine.parse(Argv.canonical(parsed)).pipe(
        Effect.provide(platform),
        Effect.map((request) => Request.launched(request, parsed.launch)),
        Effect.flatMap(Dispatch.run)
      )
    case "Dump":
      return Dispatch.run(parsed)
    case "Help": {
      const color = Color.isEnabled(process.stdout, process.env)
      return print(Effect.sync(() => Help.render(parsed.page, { version: manifest.version, color })))
    }
    case "HelpTopic": {
      const color = Color.isEnabled(process.stdout, process.env)
      return print(Effect.sync(() => Help.topic(parsed.topic, { version: manifest.version, color })))
    }
    case "Completions":
      return print(Effect.sync(() => Completions.script(parsed.shell)))
    case "Complete":
      return Effect.flatMap(
        Effect.promise(() => import("./commands/Complete.ts")),
        (command) => command.run(parsed.words)
      )
  }
}

const print = (text: Effect.Effect<string, Failure>): Dispatch.Command =>
  Effect.flatMap(Output.Output, (output) => Effect.flatMap(text, output.print)).pipe(Effect.as(ExitCode.completed))
