// The web on the command line: what is asked about, what is reached, and what a page looks like to the model.
import * as Reply from "@dsh/testing/Reply"
import * as Script from "@dsh/testing/Script"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Workspace from "./support/Workspace.ts"

const site = Effect.acquireRelease(
  Effect.async<Http.Server>((resume) => {
    const server = Http.createServer((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1><ul><li>a page</ul>")
    )
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => void server.close())
)

describe("the web on the command line", () => {
  it.scopedLive("reaches hosts that are allowed, and no address of this machine that is not", () =>
    Effect.gen(function* () {
      const { port } = (yield* site).address() as AddressInfo
      const fetching = Reply.toolCalls([{ name: "web_fetch", arguments: { url: `http://localhost:${port}/` } }])
      const workspace = yield* Workspace.make(Script.conversation([fetching, Reply.text("done")]))
      const told = Effect.map(workspace.server.requests, (requests) => String(requests.at(-1)?.body))
      const run = (env: Record<string, string>) => workspace.run(["run", "go"], { env })
      const open = { DSH_WEB_ALLOW: `localhost:${port}` }
      const rule = "web_fetch(domain:localhost)"

      const asked = `dsh: APPROVAL_UNAVAILABLE: web_fetch: no rule allows fetching from localhost; the user can allow it: dsh permission allow '${rule}'`
      const confined = { ...open, DSH_PERMISSION_MODE: "workspace-write" }
      assert.include((yield* run(confined)).stderr, asked)
      assert.strictEqual((yield* run({ ...open, DSH_PERMISSION_MODE: "danger-full-access" })).stderr, "")
      assert.include(yield* told, "(HTTP 200)\\n\\n# Hello\\n\\n- a page")

      assert.strictEqual((yield* workspace.run(["permission", "allow", rule])).code, 0)
      assert.strictEqual((yield* run(confined)).stderr, "")
      assert.include(yield* told, "# Hello")
      yield* run({ DSH_PERMISSION_MODE: "workspace-write" })
      assert.include(yield* told, "leads to 127.0.0.1, this machine, so nothing was sent to it")
      assert.include((yield* workspace.run(["permission", "list"])).stdout, rule)
      assert.strictEqual((yield* workspace.run(["permission", "revoke", rule])).code, 0)
      assert.include((yield* run(confined)).stderr, asked)
      for (const id of workspace.sessions()) {
        assert.strictEqual((yield* workspace.run(["session", "verify", id])).code, 0)
      }
    })
  )
})
