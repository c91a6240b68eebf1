/**
 * A proxy as configured: where it is, how to log in, and how to speak of it without its password.
 */
import { ConnectionError } from "../ConnectionError.ts"

export class ProxyServer {
  /** The setting that names it, for messages. */
  readonly source: string
  readonly isSecure: boolean
  /** Without the brackets of an IPv6 address. */
  readonly host: string
  readonly port: number
  /** `http://proxy:3128` */
  readonly shown: string
  readonly #authorization: string | undefined

  constructor(url: URL, source: string) {
    this.source = source
    this.isSecure = url.protocol === "https:"
    this.host = url.hostname.replace(/^\[|\]$/g, "")
    this.port = url.port === "" ? (this.isSecure ? 443 : 80) : Number(url.port)
    this.shown = `${url.protocol}//${url.host}`
    this.#authorization =
      url.username === "" && url.password === ""
        ? undefined
        : `Basic ${Buffer.from(`${decode(url.username)}:${decode(url.password)}`).toString("base64")}`
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#authorization === undefined ? {} : { "proxy-authorization": this.#authorization }
  }

  unreachable(why: string): ConnectionError {
    return new ConnectionError({
      code: "PROXY_UNREACHABLE",
      message: `the proxy ${this.shown} cannot be reached (${why}); check ${this.source}`
    })
  }

  /** It took the connection and then gave no answer that can be used. */
  unusable(why: string): ConnectionError {
    return new ConnectionError({
      code: "PROXY_UNREACHABLE",
      message: `the proxy ${this.shown} ${why}; check ${this.source}`
    })
  }

  /** It answered with a status that is none of success. */
  refused(host: string, status: number, reason: string): ConnectionError {
    const said = `(${status}${reason === "" ? "" : `: ${reason}`})`
    const [code, what] =
      status >= 500
        ? (["PROXY_FAILED", `could not connect to ${host} ${said}`] as const)
        : (["PROXY_REFUSED", `refused the connection to ${host} ${said}`] as const)
    return new ConnectionError({ code, message: `the proxy ${this.shown} ${what}; ${this.#advice(status)}` })
  }

  #advice(status: number): string {
    if (status >= 500) return "check the address, or add the host to NO_PROXY"
    if (status !== 407) return "ask whoever runs it to allow this, or add the host to NO_PROXY"
    return this.#authorization === undefined
      ? `it wants a user and a password: set ${this.source} as http://user:password@host:port`
      : `it does not accept the user and the password in ${this.source}`
  }
}

/** Undefined: what is set names no proxy. Without a scheme it is an `http:` proxy, as for curl. */
export const parse = (setting: string, source: string): ProxyServer | ConnectionError => {
  const text = setting.trim()
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? "http"
  if (scheme !== "http" && scheme !== "https") return invalid(source, `${scheme}:// proxies are not supported`)
  const url = text.includes("://") ? text : `http://${text}`
  return URL.canParse(url) ? new ProxyServer(new URL(url), source) : invalid(source, "it is not a URL")
}

// The setting itself is not shown: a password may be in it.
const invalid = (source: string, why: string): ConnectionError =>
  new ConnectionError({
    code: "PROXY_INVALID",
    message: `${source} names no proxy that can be used (${why}); set it as http://host:port, or unset it`
  })

/** Only what is an escape: a password with a lone `%` is meant as it is. */
const decode = (text: string): string => text.replace(/(?:%[\da-f]{2})+/gi, unescaped)

const unescaped = (escapes: string): string => {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes
  }
}
