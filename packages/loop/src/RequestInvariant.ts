/**
 * The one law, held against every request while a session runs: the log up to here gives the request that is about to be sent, byte for
 * byte. For tests and for `--check-invariants`; `dsh session verify` does the same afterwards.
 */
import { neutral } from "@dsh/protocol/NeutralRequest"
import * as RequestBody from "@dsh/protocol/RequestBody"
import type { SessionEvents } from "@dsh/protocol/SessionEvent"
import { SessionCreated } from "@dsh/session/Sessions"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { Llm } from "@dsh/llm/Llm"
import { newHash } from "@dsh/llm/RequestDigest"

export const layer: Layer.Layer<never, never, Llm | SessionCreated> = SessionCreated.hook(
  "request invariant",
  (session) =>
    Effect.flatMap(Llm, (llm) => {
      const formatOf = (name: string) => llm.format(name) ?? neutral
      return session.validate((event) => {
        if (event.type !== "request/sent") return undefined
        const { header } = session.conversation
        if (header === undefined) return "a request is sent and no request/header says what it is made of"
        // Made anew for each: what a loop keeps between its requests is just what may be wrong.
        const rebuilt = RequestBody.make(formatOf, newHash).render(header, session.conversation)
        return difference(rebuilt, event.data)
      })
    }),
  { order: -999 }
)

const difference = (rebuilt: RequestBody.RenderedRequest, sent: SessionEvents["request/sent"]): string | undefined =>
  rebuilt.sha256 === sent.sha256 && rebuilt.bytes.length === sent.bytes && rebuilt.of === sent.of
    ? undefined
    : `the log gives ${rebuilt.bytes.length} other bytes than the ${sent.bytes} of the request that is about to be sent`
