/**
 * Agents for `https:` that trust the configured certificate authorities, and say which certificate they do not trust.
 */
import * as Fs from "node:fs"
import * as Https from "node:https"
import type * as Tls from "node:tls"
import type { Authorities } from "./Settings.ts"
import * as Untrusted from "./Untrusted.ts"

export class TlsAgents {
  readonly #authorities: Authorities
  #context: Tls.SecureContext | undefined
  #missing: string | undefined

  constructor(authorities: Authorities) {
    this.#authorities = authorities
  }

  make(): Https.Agent {
    const secureContext = this.#secureContext()
    const agent = new Https.Agent({ keepAlive: true, ...(secureContext !== undefined && { secureContext }) })
    const connect = agent.createConnection.bind(agent)
    agent.createConnection = (options, callback) => {
      const socket = connect(options, callback)
      Untrusted.explainOn(socket as Tls.TLSSocket, options.host ?? "the host", () => this.#missing)
      return socket
    }
    return agent
  }

  /** Made once: Node would read a list of authorities anew for every connection. */
  #secureContext(): Tls.SecureContext | undefined {
    const { extra, file, given } = this.#authorities
    if (file === undefined && given.length === 0) return undefined
    // Not imported: it is slow to load, and a bundle loads what is imported at once.
    const tls = process.getBuiltinModule("node:tls")
    return (this.#context ??= tls.createSecureContext({
      ca: [...trusted(tls), ...this.#read("NODE_EXTRA_CA_CERTS", extra), ...this.#read("SSL_CERT_FILE", file), ...given]
    }))
  }

  /** A file that is not there is no reason to fail, as for OpenSSL; it is told when a certificate turns out not to be trusted. */
  #read(variable: string, path: string | undefined): ReadonlyArray<string> {
    if (path === undefined) return []
    try {
      return [Fs.readFileSync(path, "utf8")]
    } catch (error) {
      this.#missing = `${variable} cannot be read: ${error instanceof Error ? error.message : String(error)}`
      return []
    }
  }
}

/** Node 22.15 and later know what they trust; it may be more than the list they came with. */
const trusted = (tls: typeof Tls): ReadonlyArray<string> => {
  const { getCACertificates } = tls as { readonly getCACertificates?: () => ReadonlyArray<string> }
  return getCACertificates === undefined ? tls.rootCertificates : getCACertificates()
}
