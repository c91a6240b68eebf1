// What can be written as a rule, and what it speaks of.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import * as CallVerdict from "../src/CallVerdict.ts"
import type { RuleBook } from "../src/PermissionRules.ts"
import * as Rules from "../src/Rules.ts"
import * as PathPattern from "../src/Rules/PathPattern.ts"
import * as FsLocal from "@dsh/world/FsLocal"
import * as ShellSyntaxTreeSitter from "../src/ShellSyntaxTreeSitter.ts"
import { given } from "./support.ts"

describe("a rule", () => {
  for (const [text, problem] of [
    ["", /^is no rule/],
    ["bash(", /^is no rule/],
    ["bash git", /^is no rule/],
    ["bash()", /^says nothing/],
    ["bash(git log:*)", /^ends in :\*; a space and a star/],
    ["bash(git 'log)", /^has a quote that does not end/],
    ["some_tool(x)", /^names no parameter of some_tool/],
    ["web_fetch(example.com)", /write it as web_fetch\(domain:example\.com\)$/],
    ["web_fetch(domain:https://example.com)", /^names no host/],
    ["web_fetch(domain:example.com:80)", /^names no host/],
    ["web_fetch(domain:example.com/docs)", /^names no host/],
    ["web_fetch(domain:user@example.com)", /^names no host/]
  ] as const) {
    it(`is not ${JSON.stringify(text)}`, () => {
      assert.match(Either.getOrThrow(Either.flip(Rules.parse(text))), problem)
    })
  }

  it("has words in quotes as a shell has them, with stars that mean nothing in them", () => {
    const rule = Either.getOrThrow(Rules.parse(String.raw`bash(git commit -m "a *" 'b *' c\*)`))
    assert.strictEqual(rule.subject.kind, "command")
    if (rule.subject.kind === "command") assert.deepInclude(rule.subject.pattern, { open: false, exact: true })
  })

  it("has hosts as they are asked for, whatever letters they are written in", () => {
    const speaksOf = (pattern: string, url: string) => {
      const { subject } = Either.getOrThrow(Rules.parse(`web_fetch(domain:${pattern})`))
      const host = CallVerdict.hostOf({ tool: "web_fetch", arguments: { url }, cwd: "/" })
      return subject.kind === "host" && subject.pattern.test(host ?? "")
    }
    for (const [pattern, url] of [
      ["Example.COM", "https://example.com/"],
      ["example.com.", "https://EXAMPLE.com.:8443/"],
      ["bücher.example", "https://xn--bcher-kva.example/"],
      ["*.bücher.example", "https://a.BÜCHER.example/"],
      ["[::1]", "http://[0:0::1]:80/"],
      ["127.0.0.1", "http://2130706433/"],
      ["10.*", "http://10.1.2.3/"],
      ["*", "http://anything/"]
    ] as const) {
      assert.isTrue(speaksOf(pattern, url), `${pattern} ${url}`)
    }
    for (const [pattern, url] of [
      ["example.com", "https://a.example.com/"],
      ["*.example.com", "https://example.com/"],
      ["*.example.com", "https://example.com.evil.test/"],
      ["example.com", "https://example.com@evil.test/"],
      ["a.b", "https://axb/"]
    ] as const) {
      assert.isFalse(speaksOf(pattern, url), `${pattern} ${url}`)
    }
  })

  const place = (path: string): PathPattern.Place => ({ path, root: "/w/shop", home: "/home/me" })
  for (const [glob, yes, no] of [
    ["src/**", ["/w/shop/src/a/b.ts", "/w/shop/src/.hidden"], ["/w/shop/lib/a", "/w/src/a", "/w/shop2/src/a"]],
    ["*.ts", ["/w/shop/a.ts", "/w/shop/a/b.ts"], ["/w/a.ts", "/w/shop/a.tsx"]],
    ["./a.ts", ["/w/shop/a.ts"], ["/w/shop/x/a.ts"]],
    ["**", ["/w/shop/a", "/w/shop/.a/b"], ["/etc/passwd", "/w/other"]],
    ["~/.ssh/**", ["/home/me/.ssh/id"], ["/w/shop/~/.ssh/id", "/home/you/.ssh/id"]],
    ["/etc/**", ["/etc/passwd"], ["/w/shop/etc/passwd"]],
    [PathPattern.escape("src/a[1](2).ts"), ["/w/shop/src/a[1](2).ts"], ["/w/shop/src/a1.ts"]]
  ] as const) {
    it(`for ${glob} speaks of these files and no others`, () => {
      for (const path of yes) assert.isTrue(PathPattern.matches(glob, place(path)), path)
      for (const path of no) assert.isFalse(PathPattern.matches(glob, place(path)), path)
    })
  }

  const judged = (tool: string, args: { readonly [name: string]: string }, rules: RuleBook["rules"]) => {
    const book = { rules, home: "/home/me", notices: [] }
    const call = { tool, arguments: args, cwd: "/" }
    if (!CallVerdict.isConcerned(call, book)) return Effect.succeed("unconcerned")
    return Effect.map(CallVerdict.judge(call, book), ({ kind }) => kind)
  }

  it.effect("speaks of tools as a whole, and of their parameters", () =>
    Effect.gen(function* () {
      const rules = given({
        allow: ["mcp__good__*", "look(topic:a*)"],
        deny: ["mcp__good__drop", "never"],
        ask: ["maybe_*"]
      })
      const kinds: Readonly<Record<string, string>> = {
        mcp__good__read: "allow",
        mcp__good__drop: "deny",
        mcp__other__read: "ask",
        never: "deny",
        maybe_this: "ask",
        something: "unconcerned"
      }
      for (const [tool, kind] of Object.entries(kinds)) assert.strictEqual(yield* judged(tool, {}, rules), kind, tool)
      assert.strictEqual(yield* judged("look", { topic: "about" }, rules), "allow")
      assert.strictEqual(yield* judged("look", { topic: "other" }, rules), "ask")
      assert.strictEqual(yield* judged("look", {}, rules), "ask")
      assert.strictEqual(yield* judged("bash", { command: "ls" }, given({ deny: ["*"] })), "deny")
      assert.strictEqual(yield* judged("bash", { command: "eval x > f" }, given({ allow: ["bash"] })), "allow")
    }).pipe(Effect.provide([FsLocal.layer, ShellSyntaxTreeSitter.layer]))
  )

  it.effect("that allows a command lets it write no file, unless another one does", () =>
    Effect.gen(function* () {
      const echo = given({ allow: ["bash(echo *)", "bash(cd *)", "edit(/tmp/ok/**)"] })
      const kinds: Readonly<Record<string, string>> = {
        "echo > /tmp/ok/x": "allow",
        "echo >> /tmp/ok/x 2>&1": "allow",
        "echo > /dev/null": "allow",
        "echo > /tmp/other": "ask",
        "echo > /tmp/ok/../other": "ask",
        "echo > $x": "ask",
        "echo > ~/x": "ask",
        "cd /tmp && echo > tmp/ok/x": "ask",
        "echo > tmp/ok/x": "allow",
        "cd / && echo > /tmp/ok/x": "allow"
      }
      for (const [command, kind] of Object.entries(kinds)) {
        assert.strictEqual(yield* judged("bash", { command }, echo), kind, command)
      }
      const env = given({ deny: ["edit(/tmp/secret)", "read(/tmp/secret)"] })
      assert.strictEqual(yield* judged("bash", { command: "echo > /tmp/secret" }, env), "deny")
      assert.strictEqual(yield* judged("bash", { command: "cat < /tmp/secret" }, env), "deny")
      assert.strictEqual(yield* judged("bash", { command: "f() { ls; }; f > $x" }, env), "allow")
    }).pipe(Effect.provide([FsLocal.layer, ShellSyntaxTreeSitter.layer]))
  )

  it.effect("goes by the arguments that a tool has, and by no other that a call carries", () =>
    Effect.gen(function* () {
      const rules = given({ deny: ["edit(/tmp/secret)"] })
      const cases: ReadonlyArray<[tool: string, args: { readonly [name: string]: string }, kind: string]> = [
        ["edit", { file_path: "/tmp/secret" }, "deny"],
        ["edit", { file_path: "/tmp/secret", command: "view" }, "deny"],
        ["edit", { file_path: "/tmp/secret", path: "/tmp/open" }, "deny"],
        ["str_replace_editor", { command: "create", path: "/tmp/secret" }, "deny"],
        ["str_replace_editor", { command: "create", path: "/tmp/secret", file_path: "/tmp/open" }, "deny"],
        ["str_replace_editor", { command: "create", path: "/tmp/open", file_path: "/tmp/secret" }, "allow"],
        ["str_replace_editor", { command: "view", path: "/tmp/secret" }, "unconcerned"]
      ]
      for (const [tool, args, kind] of cases) {
        assert.strictEqual(yield* judged(tool, args, rules), kind, JSON.stringify({ tool, ...args }))
      }
    }).pipe(Effect.provide([FsLocal.layer, ShellSyntaxTreeSitter.layer]))
  )
})
