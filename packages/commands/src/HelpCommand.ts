/**
 * `/help`: which commands there are.
 */
import * as Effect from "effect/Effect"
import type { Command } from "./Commands.ts"
import * as Commands from "./Commands.ts"

const title = ({ input, name }: Command): string => (input === undefined ? `/${name}` : `/${name} ${input.hint}`)

/** As text, one command a line. */
export const describe = (commands: ReadonlyArray<Command>): string => {
  const width = Math.max(0, ...commands.map((command) => title(command).length))
  return commands.map((command) => `${title(command).padEnd(width)}  ${command.description}`).join("\n")
}

export const layer = Commands.layerCommand({
  name: "help",
  description: "List the commands.",
  handler: ({ agent }) =>
    Effect.sync(() => ({ kind: "success", text: describe(Commands.of(agent)?.list() ?? []) }) as const)
})
