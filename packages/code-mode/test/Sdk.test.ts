import * as Tool from "@dsh/tools/Tool"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as vm from "node:vm"
import { createRequire } from "node:module"
import * as Rendering from "../src/RunCodeTool/Rendering.ts"
import * as Sdk from "../src/Sdk.ts"

const tool = Tool.make({
  name: "b-tool",
  description: "Does it.\nNever */ ends ```here``` with {{name}}.",
  parameters: Schema.Struct({
    path: Schema.String.annotations({ description: "Where." }),
    limit: Schema.optional(Schema.Number),
    mode: Schema.Literal("fast", "slow"),
    "x-y": Schema.Array(Schema.Union(Schema.String, Schema.Null))
  }),
  output: Schema.Struct({
    found: Schema.Array(Schema.Struct({ line: Schema.Number })),
    more: Schema.optionalWith(Schema.Boolean, { exact: true }),
    any: Schema.Unknown,
    table: Schema.Record({ key: Schema.String, value: Schema.Number })
  }),
  execute: () => Effect.never,
  render: () => ""
})

const plain = {
  name: "a",
  description: "",
  parameters: { type: "object", properties: {}, additionalProperties: false }
}

describe("the declarations", () => {
  it("say what schemas say", () => {
    assert.strictEqual(
      Sdk.typescript([tool, plain]).split("\n\n/** What a failed")[0],
      `interface ToolArgs {
  a: {}
  /**
   * Does it.
   * Never *\\/ ends \`\`\`here\`\`\` with { {name}}.
   */
  "b-tool": {
    /** Where. */
    path: string
    limit?: number
    mode: "fast" | "slow"
    "x-y": Array<string | null>
  }
}

interface ToolOutputs {
  a: unknown
  "b-tool": {
    found: Array<{
      line: number
    }>
    more?: boolean
    any: unknown
    table: Record<string, number>
  }
}`
    )
  })

  it("are TypeScript, and do not depend on the order of tools", () => {
    const text = Sdk.typescript([tool, plain])
    const { transformSync } = createRequire(createRequire(import.meta.url).resolve("@dsh/quickjs-thread"))(
      "@swc/wasm-typescript"
    )
    const { code } = transformSync(text, { mode: "strip-only", filename: "sdk.ts" })
    assert.doesNotThrow(() => new vm.Script(code))
    assert.strictEqual(Sdk.typescript([plain, tool]), text)
  })

  it("stand in a fence that nothing in them closes", () => {
    assert.strictEqual(Sdk.fenced("ts", "a ```` b"), "`````ts\na ```` b\n`````")
  })

  it("of a value without a schema that can be told there is nothing to tell", () => {
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree: Schema.Schema<Tree> = Schema.Struct({ children: Schema.Array(Schema.suspend(() => Tree)) }).annotations(
      {
        identifier: "Tree"
      }
    )
    const growing = Tool.make({
      name: "grow",
      description: "",
      parameters: Schema.Struct({}),
      output: Tree,
      execute: () => Effect.never,
      render: () => ""
    })
    assert.deepStrictEqual(growing.output?.(), {})
  })
})

describe("what the model reads of a program", () => {
  for (const [logs, result, text] of [
    [["a", "b"], undefined, "a\nb"],
    [["a"], "text", "a\ntext"],
    [[], { a: [1, {}], b: [] }, '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}'],
    [[], [[[[[[[1]]]]]]], "[\n  [\n    [\n      [\n        [\n          [[1]]\n        ]\n      ]\n    ]\n  ]\n]"],
    [[], null, "null"],
    [[], undefined, Rendering.nothing],
    [[], "", Rendering.nothing]
  ] as const) {
    it(`${JSON.stringify(logs)} and ${JSON.stringify(result)}`, () =>
      assert.strictEqual(Rendering.render(logs, result), text))
  }
})
