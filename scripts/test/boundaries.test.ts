// The rule is tested as it is used: oxlint with the root configuration, over a tree of our shape in a temporary folder.
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

interface Finding {
  readonly code: string
  readonly filename: string
  readonly message: string
}

const lint = (files: Readonly<Record<string, string>>): ReadonlyArray<Finding> => {
  const tree = mkdtempSync(join(tmpdir(), "dsh-boundaries-"))
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, file)), { recursive: true })
      writeFileSync(join(tree, file), text)
    }
    const oxlint = join(root, "node_modules", ".bin", "oxlint")
    const { status, stdout } = spawnSync(oxlint, ["-c", join(root, ".oxlintrc.json"), "-f", "json"], {
      cwd: tree,
      encoding: "utf8"
    })
    const { diagnostics }: { readonly diagnostics: ReadonlyArray<Finding> } = JSON.parse(stdout)
    assert.strictEqual(status === 0, diagnostics.length === 0)
    return diagnostics
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

const importing = (specifier: string) => `import * as X from "${specifier}"\nexport const x = X\n`

/** Each row as a small house of its own, so that rows may share a file name. */
const houses = (rows: ReadonlyArray<readonly [file: string, specifier: string, ...rest: ReadonlyArray<unknown>]>) =>
  lint(Object.fromEntries(rows.map(([file, specifier], i) => [`house-${i}/${file}`, importing(specifier)])))

const refused: ReadonlyArray<readonly [file: string, specifier: string, message: RegExp]> = [
  ["packages/kernel/src/Hook.ts", "@dsh/protocol/Message", /kernel module must not import .* nothing of ours/],
  ["packages/kernel/src/Hook.ts", "@effect/platform/FileSystem", /imports nothing but effect/],
  ["packages/protocol/src/Message.ts", "node:crypto", /protocol module must not import "node:crypto"/],
  ["packages/protocol/src/Message.ts", "@dsh/session/Session", /which is definition; it may import kernel/],
  ["packages/tools/src/Tools.ts", "@dsh/loop/AgentLoop", /which is loop/],
  ["packages/tools/src/Tools.ts", "@dsh/world/SubprocessLocal", /which is provider/],
  ["packages/shell/src/BashTool.ts", "@dsh/loop/AgentLoop", /A feature module must not import/],
  ["packages/shell/src/BashTool.ts", "@dsh/world/SubprocessLocal", /Depend on the definition/],
  ["packages/shell/src/BashLocal.ts", "@dsh/world/SubprocessLocal", /A provider module must not import/],
  ["packages/shell/src/Shell.ts", "./BashLocal.ts", /Shell is a definition and must not import BashLocal, a provider/],
  ["packages/shell/src/Shell.ts", "./BashTool.ts", /must not import BashTool, a feature/],
  ["packages/llm/src/Llm.ts", "node:http", /only providers, bundles, apps and tests reach outside the process/],
  ["packages/llm/src/Llm.ts", "@effect/platform-node/NodeHttpClient", /Take a service instead/],
  ["packages/llm/src/Llm.ts", "effect", /not the barrel: "effect\/…"/],
  ["packages/llm/src/Llm.ts", "@effect/platform", /not the barrel/],
  ["packages/loop/src/AgentLoop.ts", "@dsh/llm/LlmDeepSeek", /A loop module must not import/],
  ["packages/loop/src/AgentLoop.ts", "@dsh/session/Session/Log", /private part of @dsh\/session\/Session/],
  ["packages/loop/src/AgentLoop.ts", "../../llm/src/Llm.ts", /Import another package by its name: "@dsh\/llm\/Llm"/],
  ["packages/loop/src/AgentLoop.ts", "../../../apps/cli/src/Main.ts", /Nothing imports an app/],
  ["packages/agent/src/Agent.ts", "@dsh/nowhere/Thing", /no row in scripts\/lint\/layers.mjs/],
  ["apps/cli/src/Main.ts", "effect", /not the barrel/],
  ["apps/bench/src/Main.ts", "../../cli/src/Main.ts", /Nothing imports an app/]
]

const allowed: ReadonlyArray<readonly [file: string, specifier: string]> = [
  ["packages/kernel/src/Hook.ts", "effect/Effect"],
  ["packages/kernel/src/Hook.ts", "./Registry.ts"],
  ["packages/protocol/src/Message.ts", "@dsh/kernel/Json"],
  ["packages/shell/src/BashTool.ts", "@dsh/tools/Tool"],
  ["packages/shell/src/BashTool.ts", "./Shell.ts"],
  ["packages/shell/src/BashTool.ts", "node:path"],
  ["packages/shell/src/BashLocal.ts", "@dsh/world/Subprocess"],
  ["packages/llm/src/LlmDeepSeek/Wire.ts", "node:http"],
  ["packages/world/src/SubprocessLocal.ts", "./SubprocessLocal/Launch.ts"],
  ["packages/loop/src/AgentLoop.ts", "@dsh/llm/Llm"],
  ["packages/loop/test/AgentLoop.test.ts", "@dsh/llm/LlmScripted"],
  ["packages/loop/test/AgentLoop.test.ts", "effect"],
  ["apps/cli/src/Main.ts", "@dsh/loop/AgentLoop"],
  ["apps/cli/src/Main.ts", "@effect/platform-node/NodeHttpClient"],
  ["scratchpad/compose.ts", "@dsh/llm/LlmDeepSeek"]
]

describe("dsh/boundaries", () => {
  it("says why an import is refused", () => {
    const findings = houses(refused)
    for (const [i, [file, specifier, message]] of refused.entries()) {
      const found = findings.filter(({ filename }) => filename.startsWith(`house-${i}/`))
      assert.deepStrictEqual(
        found.map(({ code }) => code),
        ["dsh(boundaries)"],
        `${file} importing ${specifier}`
      )
      assert.match(found[0]!.message, message)
    }
  })

  it("lets every layer import what stands below it", () => {
    assert.deepStrictEqual(houses(allowed), [])
  })

  it("looks at re-exports, dynamic imports and import types as well", () => {
    const findings = lint({
      "packages/kernel/src/Hook.ts": [
        `export * from "@dsh/loop/AgentLoop"`,
        `export { a } from "@dsh/loop/AgentLoop"`,
        `export const load = () => import("@dsh/loop/AgentLoop")`,
        `export type Loop = import("@dsh/loop/AgentLoop").AgentLoop`
      ].join("\n")
    })
    assert.deepStrictEqual(
      findings.map(({ code }) => code),
      Array.from({ length: 4 }, () => "dsh(boundaries)")
    )
  })

  it("refuses a package that the table does not know", () => {
    const [finding] = lint({ "packages/novelty/src/Novelty.ts": "export const x = 1\n" })
    assert.match(finding!.message, /"novelty" has no row in scripts\/lint\/layers\.mjs/)
  })

  it("refuses a cycle", () => {
    const findings = lint({
      "packages/kernel/src/A.ts": `import { b } from "./B.ts"\nexport const a = () => b\n`,
      "packages/kernel/src/B.ts": `import { a } from "./A.ts"\nexport const b = () => a\n`
    })
    assert.deepStrictEqual(Array.from(new Set(findings.map(({ code }) => code))), ["import(no-cycle)"])
  })
})
