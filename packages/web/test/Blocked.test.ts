import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as AllowList from "../src/FetchHttp/AllowList.ts"
import { answering, fetch, local, names, server, web } from "./support/Servers.ts"

const codeOf = (url: string) =>
  Effect.map(Effect.either(fetch(url)), (outcome) => (outcome._tag === "Left" ? outcome.left.code : "fetched"))

/** Hosts as they may be written; `PORT` is where somebody listens. */
const refused = [
  "127.0.0.1",
  "127.1.2.3",
  "[::1]",
  "169.254.169.254",
  "10.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "0.0.0.0",
  "0.1.2.3",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "192.0.0.192",
  "192.0.2.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:10.0.0.1]",
  "[::127.0.0.1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b::10.0.0.1]",
  "[64:ff9b:1::1]",
  "[2002:7f00:1::1]",
  "[2001:0:53aa:64c:0:ffff:80ff:fffe]",
  "[2001:db8::1]",
  "[100::1]",
  "[::ffff:0:127.0.0.1]",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "127.1",
  "017700000001",
  "0177.0.0.1",
  "127。0。0。1",
  "①②⑦.0.0.1",
  "localhost",
  "LocalHost.",
  "any.localhost"
]

describe("an address that is not on the internet", () => {
  for (const host of refused) {
    it.scopedLive(`is refused as ${host}`, () =>
      Effect.gen(function* () {
        const { connections, port } = yield* answering("secret", { "content-type": "text/plain" })
        for (const scheme of ["http", "https"]) {
          assert.strictEqual(yield* codeOf(`${scheme}://${host}:${port}/`), "WEB_BLOCKED_URL")
        }
        assert.strictEqual(connections(), 0)
      }).pipe(Effect.provide(web()))
    )
  }

  it.scopedLive("is refused behind a name, also when only one of its addresses is", () =>
    Effect.gen(function* () {
      const { connections, port } = yield* answering("secret", { "content-type": "text/plain" })
      const { resolve } = names({
        "own.test": [["127.0.0.1"]],
        "mixed.test": [["93.184.216.34", "10.0.0.1"]],
        "six.test": [["2606:2800:220:1::1", "::1"]],
        "odd.test": [["not an address"]]
      })
      for (const host of ["own.test", "mixed.test", "six.test", "odd.test"]) {
        const code = yield* Effect.provide(codeOf(`http://${host}:${port}/`), web({ resolve }))
        assert.strictEqual(code, "WEB_BLOCKED_URL", host)
      }
      assert.strictEqual(connections(), 0)
    })
  )

  it.scopedLive("is refused when a name moves there between two requests, and between two hops", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* server((request, response) => {
        if (request.url === "/hop") return void response.writeHead(302, { location: "/next" }).end()
        return void response.writeHead(200, { "content-type": "text/plain" }).end("page")
      })
      // What is allowed stands for the internet here, the other for what is not.
      const table = { "moving.test": [["127.0.0.1"], ["127.0.0.2"]], "hops.test": [["127.0.0.1"], ["127.0.0.2"]] }
      const { looked, resolve } = names(table)
      const outcomes = Effect.forEach(["moving.test/", "moving.test/", "hops.test/hop"], (rest) =>
        codeOf(`http://${rest.replace("/", `:${port}/`)}`)
      )
      assert.deepStrictEqual(yield* Effect.provide(outcomes, web({ ...local, resolve })), [
        "fetched",
        "WEB_BLOCKED_URL",
        "WEB_BLOCKED_URL"
      ])
      assert.deepStrictEqual(asked, ["/", "/hop"])
      assert.deepStrictEqual(looked, ["moving.test", "moving.test", "hops.test", "hops.test"])
    })
  )

  it.scopedLive("is refused on other grounds before anybody is looked up", () =>
    Effect.gen(function* () {
      const { looked, resolve } = names({})
      const outcomes = Effect.forEach(
        [
          "file:///etc/passwd",
          "ftp://example.com/",
          "data:text/plain,x",
          "javascript:1",
          "http://user@example.com/",
          "http://user:secret@example.com/",
          "not a URL",
          "http://",
          `http://example.com/${"a".repeat(2048)}`
        ],
        codeOf
      )
      assert.deepStrictEqual(yield* Effect.provide(outcomes, web({ resolve })), [
        ...Array.from({ length: 6 }, () => "WEB_BLOCKED_URL"),
        ...Array.from({ length: 3 }, () => "WEB_INVALID_URL")
      ])
      assert.deepStrictEqual(looked, [])
    })
  )
})

describe("the list of what is allowed", () => {
  const allowed = (port: number, url: string, ...allow: ReadonlyArray<string>) => {
    const { resolve } = names({ "a.corp.test": [["127.0.0.1"]], "corp.test": [["127.0.0.1"]] })
    return Effect.provide(codeOf(url.replace("PORT", String(port))), web({ allow, resolve }))
  }

  it.scopedLive("names hosts, addresses and networks, on a port if it says so", () =>
    Effect.gen(function* () {
      const { port } = yield* answering("intranet", { "content-type": "text/plain" })
      const fetched = [
        ["http://127.0.0.1:PORT/", "127.0.0.1"],
        ["http://127.0.0.1:PORT/", "10.0.0.0/8", "127.0.0.0/8"],
        ["http://127.0.0.1:PORT/", `127.0.0.1:${port}`],
        ["http://127.0.0.1:PORT/", `127.0.0.0/8:${port}`],
        ["http://a.corp.test:PORT/", "a.corp.test"],
        ["http://A.corp.test.:PORT/", `*.CORP.test:${port}`],
        ["http://a.corp.test:PORT/", "127.0.0.1"]
      ] as const
      for (const [url, ...allow] of fetched) {
        assert.strictEqual(yield* allowed(port, url, ...allow), "fetched", `${url} ${allow.join(" ")}`)
      }
      const blocked = [
        ["http://127.0.0.1:PORT/", "127.0.0.2"],
        ["http://127.0.0.1:PORT/", "127.0.0.1:1"],
        ["http://127.0.0.1:PORT/", "corp.test"],
        ["http://corp.test:PORT/", "*.corp.test"],
        ["http://a.corp.test:PORT/", "corp.test"],
        ["http://a.corp.test:PORT/", "127.0.0.1/33"],
        ["http://a.corp.test:PORT/", "a.corp.test/x"]
      ] as const
      for (const [url, ...allow] of blocked) {
        assert.strictEqual(yield* allowed(port, url, ...allow), "WEB_BLOCKED_URL", `${url} ${allow.join(" ")}`)
      }
    })
  )

  it("tells the forms of IPv6 apart", () => {
    const permits = (entry: string, address: string, port = "80") => {
      const list = AllowList.parse([entry])
      return "permits" in list && list.permits(address, port, address)
    }
    assert.isTrue(permits("::1", "::1"))
    assert.isTrue(permits("[::1]", "0:0:0:0:0:0:0:1"))
    assert.isTrue(permits("[fd00::]/8", "fd12::1"))
    assert.isTrue(permits("[fd00::1]:8443", "fd00::1", "8443"))
    assert.isTrue(permits("127.0.0.1", "::ffff:127.0.0.1"))
    assert.isFalse(permits("[fd00::1]:8443", "fd00::1"))
    assert.isFalse(permits("::1", "127.0.0.1"))
    assert.isFalse(permits("127.0.0.1", "::1"))
  })
})
