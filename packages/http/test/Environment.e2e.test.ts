// A process of its own, with the real environment: what Node reads by itself at its start, and that nothing keeps it going.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { fixture, origin, proxy } from "./support/Servers.ts"

const folder = mkdtempSync(join(tmpdir(), "dsh-http-"))
let program: string

beforeAll(async () => {
  const { bundle } = await import("../../../scripts/bundle.mjs")
  program = await bundle({ input: fileURLToPath(new URL("programs/Get.ts", import.meta.url)), out: folder })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What it prints, once it has ended by itself. */
const get = (url: string, env: Readonly<Record<string, string>>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => spawn(process.execPath, [program, url], { env, stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.promise(() => text(child.stdout)),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

describe("in a process of its own", () => {
  it.scopedLive("the certificates of NODE_EXTRA_CA_CERTS are trusted", () =>
    Effect.gen(function* () {
      const url = `https://localhost:${(yield* origin("https")).port}`
      const ca = { NODE_EXTRA_CA_CERTS: fixture("ca.pem") }
      assert.include(yield* get(url, {}), "set NODE_EXTRA_CA_CERTS=/path/to/ca.pem")
      assert.strictEqual(yield* get(url, ca), "hello\n")
      assert.strictEqual(yield* get(url, { ...ca, SSL_CERT_FILE: "/dev/null" }), "hello\n")
      assert.strictEqual(yield* get(url, { SSL_CERT_FILE: fixture("ca.pem") }), "hello\n")
    })
  )

  it.scopedLive("a connection that is kept through a proxy does not keep it going", () =>
    Effect.gen(function* () {
      const http = yield* origin("http")
      const https = yield* origin("https")
      const plain = yield* proxy()
      const secure = yield* proxy({ kind: "https" })
      for (const all_proxy of [plain.url, `https://localhost:${secure.port}`]) {
        const env = { all_proxy, NODE_EXTRA_CA_CERTS: fixture("ca.pem") }
        assert.strictEqual(yield* get(`http://api.test:${http.port}`, env), "hello\n")
        assert.strictEqual(yield* get(`https://api.test:${https.port}`, env), "hello\n")
      }
      assert.lengthOf(plain.asked, 2)
      assert.lengthOf(secure.asked, 2)
    })
  )
})
