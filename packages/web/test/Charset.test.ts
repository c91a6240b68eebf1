import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answering, fetch, local, web } from "./support/Servers.ts"

const bytes = {
  "你好 gbk": [0xc4, 0xe3, 0xba, 0xc3, 0x20, 0x67, 0x62, 0x6b],
  "日本 sjis": [0x93, 0xfa, 0x96, 0x7b, 0x20, 0x73, 0x6a, 0x69, 0x73],
  "中文 big5": [0xa4, 0xa4, 0xa4, 0xe5, 0x20, 0x62, 0x69, 0x67, 0x35],
  "한글 euc": [0xc7, 0xd1, 0xb1, 0xdb, 0x20, 0x65, 0x75, 0x63],
  "é “1”": [0xe9, 0x20, 0x93, 0x31, 0x94]
} as const

type Text = keyof typeof bytes

const join = (...parts: ReadonlyArray<string | ReadonlyArray<number>>) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))))

const utf16le = (text: string) => Buffer.from(text, "utf16le")
const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16()

interface Case {
  readonly type: string
  readonly body: Uint8Array
  readonly text: string
}

const meta = (head: string, text: Text, pad = ""): Case => ({
  type: "text/html",
  body: join(pad, head, bytes[text]),
  text: pad + head + text
})

const cases: Readonly<Record<string, Case>> = {
  "the header": { type: "text/html; charset=GBK", body: join(bytes["你好 gbk"]), text: "你好 gbk" },
  "the header in quotes": {
    type: 'text/plain;x=y; Charset="shift_jis"',
    body: join(bytes["日本 sjis"]),
    text: "日本 sjis"
  },
  "the header, of text": { type: "text/plain; charset=euc-kr", body: join(bytes["한글 euc"]), text: "한글 euc" },
  "the header, by an old name": { type: "text/plain; charset=iso-8859-1", body: join(bytes["é “1”"]), text: "é “1”" },
  "the header, of UTF-16": { type: "text/plain; charset=utf-16le", body: utf16le("é你"), text: "é你" },
  "the header before the page": {
    type: "text/html; charset=gbk",
    body: join("<meta charset=big5>", bytes["你好 gbk"]),
    text: "<meta charset=big5>你好 gbk"
  },
  "a mark of UTF-8": { type: "text/plain", body: join([0xef, 0xbb, 0xbf], "x\xc3\xa9"), text: "xé" },
  "a mark of UTF-16, little end first": {
    type: "text/html",
    body: join([0xff, 0xfe], [...utf16le("é你")]),
    text: "é你"
  },
  "a mark of UTF-16, big end first": { type: "text/plain", body: join([0xfe, 0xff], [...utf16be("é你")]), text: "é你" },
  "a mark before the header": {
    type: "text/plain; charset=iso-8859-1",
    body: join([0xef, 0xbb, 0xbf], "\xc3\xa9"),
    text: "é"
  },
  "the page": meta("<meta charset=gbk>", "你好 gbk"),
  "the page, in quotes": meta('<html><META  Charset = "Shift_JIS" />', "日本 sjis"),
  "the page, as a header": meta('<meta http-equiv="Content-Type" content="text/html; charset=big5">', "中文 big5"),
  "the page, within the first 1024 bytes": meta("<meta charset=gbk>", "你好 gbk", " ".repeat(1000)),
  "the page where the header means nothing": {
    ...meta("<meta charset=gbk>", "你好 gbk"),
    type: "text/html; charset=none"
  },
  "the page, which says UTF-16 and is not": {
    type: "text/html",
    body: join("<meta charset=utf-16>\xc3\xa9"),
    text: "<meta charset=utf-16>é"
  },
  "a comment, which does not count": {
    type: "text/html",
    body: join("<!-- <meta charset=gbk> -->\xc3\xa9"),
    text: "<!-- <meta charset=gbk> -->é"
  },
  XML: {
    type: "application/xml",
    body: join('<?xml version="1.0" encoding="gbk"?>', bytes["你好 gbk"]),
    text: '<?xml version="1.0" encoding="gbk"?>你好 gbk'
  },
  "nobody, of UTF-8": { type: "text/html", body: join("\xc3\xa9"), text: "é" },
  "nobody, of an old page": { type: "text/html", body: join(bytes["é “1”"]), text: "é “1”" },
  "nobody, of text that is broken": { type: "text/plain", body: join("a\xe9b"), text: "a\ufffdb" },
  "nobody, as what is no page says nothing": {
    type: "text/plain",
    body: join("<meta charset=gbk>\xc3\xa9"),
    text: "<meta charset=gbk>é"
  }
}

describe("the encoding", () => {
  for (const [name, { body, text, type }] of Object.entries(cases)) {
    it.scopedLive(`is named by ${name}`, () =>
      Effect.gen(function* () {
        const { url } = yield* answering(body, { "content-type": type })
        assert.strictEqual((yield* fetch(url)).body.content, text)
      }).pipe(Effect.provide(web(local)))
    )
  }

  it.scopedLive("is no reason to doubt what was cut within a character", () =>
    Effect.gen(function* () {
      const { url } = yield* answering("ab\u00e9".repeat(100), {
        "content-type": "text/html",
        "transfer-encoding": "chunked"
      })
      const { body, truncated } = yield* fetch(url)
      assert.isTrue(truncated)
      assert.strictEqual(body.content, "abéab")
    }).pipe(Effect.provide(web({ ...local, maxResponseBytes: 7 })))
  )
})
