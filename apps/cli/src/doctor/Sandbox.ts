/**
 * Whether commands are confined as runs have it: one is started, the way tools start theirs.
 */
import * as Compose from "@dsh/compose/Compose"
import type { Node } from "@dsh/compose/Graph"
import type { Composed } from "@dsh/compose/Compose"
import { Sandbox, remedy } from "@dsh/sandbox/Sandbox"
import { SandboxPolicy } from "@dsh/sandbox/SandboxPolicy"
import { Subprocess } from "@dsh/world/Subprocess"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Preset from "../Permissions/Preset.ts"
import type { Check } from "./Finding.ts"
import * as Finding from "./Finding.ts"

/** The rows that starting a program takes, and no others. */
const world = ({ graph, means }: Composed): Pick<Composed, "graph" | "means"> => {
  const byId = new Map(graph.nodes.map((node) => [node.row.id, node]))
  const wanted = new Set<Node>()
  const want = (node: Node | undefined): void => {
    if (node === undefined || wanted.has(node)) return
    wanted.add(node)
    for (const id of node.after) want(byId.get(id))
  }
  want(graph.nodes.find(({ plugin, realm }) => realm.length === 0 && plugin.provides.includes(Subprocess.key)))
  return { means, graph: { nodes: graph.nodes.filter((node) => wanted.has(node)) } }
}

const output = { maxBytes: 4096 }

const start = (subprocess: Subprocess["Type"]) =>
  Effect.scoped(
    Effect.gen(function* () {
      const started = yield* subprocess.spawn({
        argv: ["true"],
        cwd: process.cwd(),
        stdin: "ignore",
        stdout: output,
        stderr: output
      })
      const { exitCode } = yield* started.exit
      const text = ({ bytes }: { readonly bytes: Uint8Array }) => Buffer.from(bytes).toString("utf8")
      const stdout = text(yield* started.collected.stdout.readFrom(0))
      const stderr = text(yield* started.collected.stderr.readFrom(0))
      return { exitCode, stdout, stderr }
    })
  )

const namespaces =
  "let your user make namespaces (kernel.unprivileged_userns_clone=1; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; " +
  `in a container a seccomp profile that allows it), or ${remedy}`

const refused = (error: { readonly message: string }): Finding.Finding =>
  // Then it is installed, and there is nothing to install.
  /namespace|uid map|operation not permitted/i.test(error.message)
    ? { ...Finding.because("fail", error), remedy: namespaces }
    : Finding.because("fail", error)

const unconfined = Finding.warn(
  "commands run unconfined (danger-full-access)",
  "if you do not want that, unset DSH_PERMISSION_MODE and permission.preset in the settings"
)

const confined = (services: Context.Context<never>) =>
  Effect.gen(function* () {
    const policy = Context.getOption(services, SandboxPolicy)
    const sandbox = Context.getOption(services, Sandbox)
    const subprocess = Context.getOption(services, Subprocess)
    if (Option.isNone(subprocess) || Option.isNone(sandbox) || Option.isNone(policy)) {
      return Finding.warn(
        "the configuration starts programs without a sandbox",
        "take the patch back that replaces the rows sandbox, sandbox-policy and subprocess"
      )
    }
    const { mode, network, workspace } = yield* policy.value.standing
    if (mode === "danger-full-access") return unconfined
    const ended = yield* start(subprocess.value)
    const verdict = sandbox.value.judge(ended)
    if (verdict.kind === "unavailable") return refused(verdict.error)
    if (ended.exitCode !== 0) {
      return Finding.fail(
        `a confined "true" ended with exit code ${ended.exitCode}: ${ended.stderr.trim()}`,
        namespaces
      )
    }
    const extent = sandbox.value.enforcement === "full" ? "confined" : "confined as far as this system can"
    return Finding.ok(`commands are ${extent}: ${mode} in ${workspace}, network ${network}`)
  })

export const check: Check = ({ prepared }) =>
  Effect.gen(function* () {
    const preset = yield* Effect.either(Preset.resolve(undefined))
    if (Either.isLeft(preset) && preset.left.code === "INVALID_CONFIG") return Finding.because("fail", preset.left)
    const run = yield* Effect.either(prepared)
    if (Either.isLeft(run)) {
      return Finding.warn("it was not tried, because there is nothing to start a program with", "see configuration")
    }
    const { composed, given } = run.right
    const running = yield* Compose.start(world(composed), given)
    return yield* confined(running.context())
  }).pipe(
    Effect.scoped,
    Effect.catchAll((error) => Effect.succeed(refused(error)))
  )
