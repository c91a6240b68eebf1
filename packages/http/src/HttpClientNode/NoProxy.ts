/**
 * The hosts that are reached without the proxy, as `NO_PROXY` lists them.
 *
 * `corp`, `.corp` and `*.corp` all mean the domain and what is below it, as for curl. This machine is never reached through a proxy,
 * unless the list has `<-loopback>` (the word that browsers use for it).
 */
import * as Net from "node:net"

/** Does it cover this host? */
type Rule = (host: string, port: string) => boolean

const loopback: Rule = (host) =>
  host === "localhost" || host.endsWith(".localhost") || host === "::1" || (Net.isIPv4(host) && host.startsWith("127."))

export class NoProxy {
  readonly #rules: ReadonlyArray<Rule>

  constructor(list: string) {
    const entries = list.split(/[\s,]+/).filter((entry) => entry !== "")
    const rules = entries.filter((entry) => entry !== "<-loopback>").map(ruleOf)
    this.#rules = entries.includes("<-loopback>") ? rules : [loopback, ...rules]
  }

  covers(url: URL): boolean {
    const host = bare(url.hostname)
    const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port
    return this.#rules.some((rule) => rule(host, port))
  }
}

const ruleOf = (entry: string): Rule => {
  if (entry === "*") return () => true
  const block = /^\[?([^\]/]+)\]?\/(\d{1,3})$/.exec(entry)
  if (block !== null) return network(block[1] ?? "", Number(block[2]))
  const [, name = "", port] = Net.isIPv6(entry) ? ["", entry] : (/^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [])
  const host = canonical(name.replace(/^\*?\./, ""))
  const below = Net.isIP(host) === 0 ? `.${host}` : undefined
  return (at, atPort) =>
    (port === undefined || port === atPort) && (at === host || (below !== undefined && at.endsWith(below)))
}

const network = (address: string, prefix: number): Rule => {
  const family = familyOf(address)
  if (family === undefined || prefix > (family === "ipv4" ? 32 : 128)) return () => false
  const list = new Net.BlockList()
  list.addSubnet(address, prefix, family)
  return (host) => {
    const of = familyOf(host)
    return of !== undefined && list.check(host, of)
  }
}

const familyOf = (address: string): "ipv4" | "ipv6" | undefined =>
  Net.isIPv4(address) ? "ipv4" : Net.isIPv6(address) ? "ipv6" : undefined

/** As a URL would have it: lower case, Punycode, addresses in their one form. */
const canonical = (name: string): string => {
  const host = Net.isIPv6(name) ? `[${name}]` : name
  return bare(URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host.toLowerCase())
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, "")
