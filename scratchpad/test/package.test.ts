// The package of the cookbook is one that the checks accept, with the line that its page says, and not without.
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** A house with the checks of this one, and with that package in it. */
const house = (row: string): string => {
  const at = mkdtempSync(join(tmpdir(), "dsh-package-"))
  for (const path of ["package.json", ".oxlintrc.json", "scripts/lint", "scripts/check"]) {
    cpSync(join(root, path), join(at, path), { recursive: true })
  }
  cpSync(join(root, "scratchpad/cookbook/glossary"), join(at, "packages/glossary"), { recursive: true })
  mkdirSync(join(at, "apps"))
  const layers = join(at, "scripts/lint/layers.mjs")
  writeFileSync(
    layers,
    readFileSync(layers, "utf8").replace("export const packages = {\n", (open) => open + row)
  )
  return at
}

const check = (row: string): { readonly lint: string; readonly manifests: string } => {
  const at = house(row)
  try {
    const run = (command: string, ...args: ReadonlyArray<string>) => {
      const { status, stderr, stdout } = spawnSync(command, args, { cwd: at, encoding: "utf8" })
      return status === 0 ? "" : stdout + stderr
    }
    return {
      lint: run(join(root, "node_modules/.bin/oxlint"), "packages"),
      manifests: run(process.execPath, "scripts/check/manifests.mjs")
    }
  } finally {
    rmSync(at, { recursive: true, force: true })
  }
}

describe("the package of the cookbook", () => {
  it("passes the checks with the line that its page says", () => {
    const page = readFileSync(join(root, "docs/cookbook/package.md"), "utf8")
    const row = /```js\n([^]*?)```/.exec(page)?.[1] ?? ""
    assert.deepStrictEqual(check(row), { lint: "", manifests: "" })
  })

  it("is refused without it", () => {
    assert.match(check("").lint, /"glossary" has no row in scripts\/lint\/layers\.mjs/)
  })

  it("is refused where its definition leaned on a provider", () => {
    assert.match(
      check(`glossary: { role: "definition", provider: ["Glossary"] },\n`).lint,
      /GlossaryTool|GlossaryMemory/
    )
  })
})
