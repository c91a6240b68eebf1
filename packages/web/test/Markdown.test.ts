import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { depthOf } from "../src/WebFetchTool/Depth.ts"
import * as Markdown from "../src/WebFetchTool/Markdown.ts"

const of = (html: string) => Effect.map(Markdown.of(html, "https://example.com/a/b"), Option.getOrUndefined)

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
  it.effect("has the headings, lists, code and tables of a page, and none of its scripts", () =>
    Effect.map(of(page), (markdown) => assert.strictEqual(markdown, expected))
  )

  it.effect("is made of pages that leave out their ends", () =>
    Effect.gen(function* () {
      const list = "<ul>" + "<li>x".repeat(2000) + "</ul>" + "<p>y".repeat(2000)
      assert.include(yield* of(list), "- x\n- x\n")
    })
  )

  it.effect("is not made of pages that are nested as nobody nests", () =>
    Effect.gen(function* () {
      const nested = (depth: number) => "<div>".repeat(depth) + "deep" + "</div>".repeat(depth)
      assert.strictEqual(yield* of(nested(512)), "deep")
      assert.strictEqual(yield* of(nested(513)), undefined)
      assert.strictEqual(depthOf("<div><br><img/><p><svg/></div></div><DIV x='a'><b>"), 2)
      assert.strictEqual(depthOf("< div><1><!-- -->"), 0)
    })
  )

  it.effect("comes to an end whatever the page is like", () =>
    Effect.gen(function* () {
      const long = (part: string) => part.repeat(Math.ceil(100_000 / part.length)).slice(0, 100_000)
      const hostile = [
        `<table>${long("<tr><td>x<td>y")}`,
        `${"<div>".repeat(500)}${long("<p>x</p>")}`,
        `${"<b>".repeat(400)}${long("<p>x")}`,
        `${long("<a><b><i><u>").slice(0, 3000)}${long("<p>")}`,
        long("<!--"),
        long("<"),
        long("<a x='"),
        long("<em>x</em> "),
        `<a ${Array.from({ length: 15_000 }, (_, i) => `a${i}`).join(" ")}>x</a>`
      ]
      for (const html of hostile) yield* of(html)
    })
  )
})
