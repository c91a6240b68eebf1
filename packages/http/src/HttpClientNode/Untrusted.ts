/**
 * Says which certificate was refused, and why. Node only says why.
 */
import type { DetailedPeerCertificate, TLSSocket } from "node:tls"
import { ConnectionError } from "../ConnectionError.ts"

/**
 * Puts the certificate into the error when `socket` fails on it. It can be read for no longer than the connection lives, and Node ends
 * the connection before it tells anybody.
 */
export const explainOn = (socket: TLSSocket, host: string, missing: () => string | undefined): void => {
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error) => {
    const code = codeOf(error)
    if (error === undefined || code === undefined) return destroy(error)
    return destroy(refusal({ host, code, why: error.message, missing: missing() }, socket.getPeerCertificate(true)))
  }
}

interface Refused {
  readonly host: string
  readonly code: string
  readonly why: string
  /** What should have been trusted, too, and could not be read. */
  readonly missing: string | undefined
}

const codeOf = (error: Error | undefined): string | undefined => {
  const code: unknown = error !== undefined && "code" in error ? error.code : undefined
  return typeof code === "string" && /^CERT_|SELF_SIGNED|ISSUER|LEAF_SIGNATURE|INVALID_CA|ALTNAME/.test(code)
    ? code
    : undefined
}

const refusal = (refused: Refused, certificate: DetailedPeerCertificate): ConnectionError => {
  const names = `subject ${nameOf(certificate.subject)}, issuer ${nameOf(last(certificate).issuer)}`
  const why = plain(refused.why.split(";")[0] ?? "", 200)
  return new ConnectionError({
    code: "TLS_UNTRUSTED",
    message:
      `the certificate of ${refused.host} is not trusted: ${why}; ` +
      `${advice(refused, certificate)} (${names}, ${refused.code})`
  })
}

const advice = ({ code, missing }: Refused, certificate: DetailedPeerCertificate): string => {
  if (code.includes("ALTNAME")) return "check the address"
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    return `it is valid from ${certificate.valid_from} to ${certificate.valid_to}: check the clock, or have it renewed`
  }
  const trust = "if you trust its issuer, set NODE_EXTRA_CA_CERTS=/path/to/ca.pem and start again"
  return missing === undefined ? trust : `${trust}; ${missing}`
}

/** The end of the chain that was presented: who issued that one is whom to trust. */
const last = (certificate: DetailedPeerCertificate): DetailedPeerCertificate => {
  let at = certificate
  for (let depth = 0; depth < 16; depth++) {
    const issuer: DetailedPeerCertificate | undefined = at.issuerCertificate
    if (issuer === undefined || issuer === at || issuer.fingerprint256 === at.fingerprint256) break
    at = issuer
  }
  return at
}

type Name = DetailedPeerCertificate["subject"] | undefined

/** `CN=Example Root, O=Example`. */
const nameOf = (name: Name): string => {
  const parts = (["CN", "O"] as const).flatMap((key) => {
    const value: unknown = name?.[key]
    return value === undefined ? [] : [`${key}=${plain(String(value), 100)}`]
  })
  return parts.length === 0 ? "unknown" : parts.join(", ")
}

/** What the other side chose goes to a terminal. */
const plain = (text: string, length: number): string => text.replace(/\p{C}/gu, " ").slice(0, length).trim()
