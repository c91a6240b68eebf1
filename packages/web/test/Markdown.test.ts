import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import * as MarkdownThread from "../src/MarkdownThread.ts"
import { depthOf } from "../src/WebFetchTool/Depth.ts"

const of = (html: string, options?: MarkdownThread.Options) =>
  Effect.map(MarkdownThread.make(options).convert(html, "https://example.com/a/b"), Option.getOrUndefined)

const page = `<!doctype html><html><head><title>T</title><style>a { b: c }</style>
<script>var x = "<h1>no</h1>"</script></head><body>
<h1>Top &amp; all</h1><h3>Third</h3>
<p>Some <b>bold</b>, <em>slanted</em> and <code>code</code>, a <a href="/link?x=1">link</a>.</p>
<ul><li>one<ul><li>two</li></ul></li><li>three</li></ul>
<ol><li>first</li></ol>
<pre><code class="language-js">let a = 1
  a++
</code></pre>
<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1|2</td><td>3</td></tr></tbody></table>
<blockquote>said</blockquote><noscript>nothing</noscript><p>last</p></body></html>`

const expected = `T

# Top & all

### Third

Some **bold**, *slanted* and \`code\`, a [link](https://example.com/link?x=1).

- one
  - two
- three

1. first

\`\`\`js
let a = 1
  a++
\`\`\`

| A | B |
| --- | --- |
| 1\\|2 | 3 |

> said

last`

describe("Markdown", () => {
  it.live("has the headings, lists, code and tables of a page, and none of its scripts", () =>
    Effect.map(of(page), (markdown) => assert.strictEqual(markdown, expected))
  )

  it.live("is made of pages that leave out their ends", () =>
    Effect.gen(function* () {
      const list = "<ul>" + "<li>x".repeat(2000) + "</ul>" + "<p>y".repeat(2000)
      assert.include(yield* of(list), "- x\n- x\n")
    })
  )

  it.live("is not made of a page that takes too long, however it was made to", () =>
    Effect.gen(function* () {
      const slow = `${"<blockquote>".repeat(100)}${"</code>".repeat(100)}${"` </textarea> <code> </h1> </b>".repeat(3000)}`
      assert.strictEqual(yield* of(slow, { timeout: "100 millis" }), undefined)
      const fiber = yield* Effect.fork(of(slow, { timeout: "1 hour" }))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
    })
  )

  it.live("is not made of a page that the library cannot take, or that takes too much memory", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* of("<tr>x".repeat(1000), { timeout: "1 hour" }), undefined)
      assert.strictEqual(yield* of("<p>x".repeat(1_000_000), { maxMemory: 8, timeout: "1 hour" }), undefined)
      assert.strictEqual(yield* of("<p>x"), "x")
    })
  )
})

describe("the depth of a page", () => {
  it("is that of its elements", () => {
    const nested = (depth: number) => "<div>".repeat(depth) + "deep" + "</div>".repeat(depth)
    assert.strictEqual(depthOf(nested(512)), 512)
    assert.strictEqual(depthOf("<ul>" + "<li>x".repeat(2000) + "</ul>" + "<p>y".repeat(2000)), 1)
    assert.strictEqual(depthOf("<div><br><img/><p><svg/></div></div><DIV x='a'><b>"), 2)
    assert.strictEqual(depthOf("< div><1><!-- --><div"), 0)
  })

  it("is told in one pass", () => {
    for (const part of ["<a", "<a ", "<a x='", "<", "</", "<a>", "<a/"]) depthOf(part.repeat(1_000_000))
  })
})
