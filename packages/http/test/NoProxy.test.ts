// The forms in which people write down whom to reach without the proxy.
import { assert, describe, it } from "@effect/vitest"
import { NoProxy } from "../src/HttpClientNode/NoProxy.ts"

const covers = (list: string, url: string) => new NoProxy(list).covers(new URL(url))

const cases: ReadonlyArray<readonly [list: string, covered: ReadonlyArray<string>, others: ReadonlyArray<string>]> = [
  ["", [], ["http://corp"]],
  ["*", ["http://corp", "https://10.0.0.1", "http://[fd00::1]"], []],
  ["corp", ["http://corp", "http://CORP:81", "https://api.corp"], ["http://mycorp", "http://corp.com"]],
  [".corp", ["http://corp", "https://a.b.corp"], ["http://mycorp"]],
  ["*.corp", ["http://corp", "https://a.b.corp"], ["http://mycorp"]],
  ["corp:8443", ["https://corp:8443", "http://a.corp:8443"], ["https://corp", "http://corp:84"]],
  [".corp:443", ["https://corp", "https://corp:443"], ["http://corp", "https://corp:8443"]],
  ["a.example, b.example\tc.example", ["http://a.example", "http://b.example", "http://c.example"], ["http://example"]],
  ["Corp.", ["http://corp", "http://corp."], []],
  ["bücher.example", ["http://bücher.example"], ["http://bucher.example"]],
  ["10.0.0.1", ["http://10.0.0.1"], ["http://10.0.0.10", "http://110.0.0.1"]],
  ["10.0.0.1:81", ["http://10.0.0.1:81"], ["http://10.0.0.1"]],
  ["10.0.0.0/8", ["http://10.1.2.3:81"], ["http://11.0.0.1", "http://10.corp"]],
  ["10.0.0.0/33", [], ["http://10.0.0.0"]],
  ["corp/8", [], ["http://corp"]],
  ["fd00::1", ["http://[fd00:0::1]:81"], ["http://[fd00::2]"]],
  ["[fd00::1]:81", ["http://[fd00::1]:81"], ["http://[fd00::1]"]],
  ["fd00::/8", ["http://[fd12::1]"], ["http://[fe00::1]", "http://253.0.0.1"]]
]

const loopback = [
  "http://localhost",
  "https://a.localhost:81",
  "http://127.0.0.1",
  "http://127.9.9.9:81",
  "http://[::1]:81"
]

describe("NoProxy", () => {
  for (const [list, covered, others] of cases) {
    it(`"${list}"`, () => {
      for (const url of covered) assert.isTrue(covers(list, url), url)
      for (const url of others) assert.isFalse(covers(list, url), url)
    })
  }

  it("this machine, unless one asks for it", () => {
    for (const url of loopback) {
      assert.isTrue(covers("", url), url)
      assert.isFalse(covers("corp,<-loopback>", url), url)
    }
    assert.isFalse(covers("", "http://128.0.0.1"))
    assert.isFalse(covers("", "http://127.0.0.1.example"))
    assert.isTrue(covers("<-loopback>,localhost", "http://localhost"))
  })
})
