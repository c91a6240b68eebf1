/**
 * Which addresses belong to the internet at large. All others are somebody's own: this machine, its network, what a cloud tells its
 * machines, or nobody's at all.
 */
import ipaddr from "ipaddr.js"

type Address = ipaddr.IPv4 | ipaddr.IPv6

const names: Readonly<Record<string, string>> = {
  unspecified: "an unspecified address, which is this machine",
  loopback: "this machine",
  private: "a private network",
  uniqueLocal: "a private network",
  linkLocal: "a link-local address, where clouds keep the credentials of their machines",
  carrierGradeNat: "the network of a provider (carrier-grade NAT)",
  multicast: "a multicast address",
  broadcast: "a broadcast address"
}

/** Answered by the host of a virtual machine, though it looks like any other address (Azure). */
const metadata = new Set(["168.63.129.16"])

/** `2000::/3` is all there is of global IPv6. */
const global = ipaddr.IPv6.parseCIDR("2000::/3")

/** What `address` belongs to, for people, where that is not the internet; "no address" of what is none. */
export const objection = (address: string): string | undefined => {
  const parsed = parse(address)
  return parsed === undefined ? "no address" : objectionTo(parsed)
}

const objectionTo = (address: Address): string | undefined => {
  const range = address.range()
  if (address instanceof ipaddr.IPv6) {
    const inner = embedded(address, range)
    if (inner !== undefined) return objectionTo(inner)
    if (range === "unicast" && !address.match(global)) return "an address that is not assigned"
  } else if (metadata.has(address.toString())) return "an address of a cloud for its own machines"
  return range === "unicast" ? undefined : (names[range] ?? `a range that is reserved (${range})`)
}

/** The IPv4 address that a connection to this one ends at: mapped ones, and those of NAT64 networks. */
const embedded = (address: ipaddr.IPv6, range: string): ipaddr.IPv4 | undefined => {
  if (range === "ipv4Mapped") return address.toIPv4Address()
  return range === "rfc6052" ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined
}

/** IPv4 only as four decimal numbers: Node takes no other form for an address, and looks it up instead. */
export const parse = (address: string): Address | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address)
  return ipaddr.IPv6.isValid(address) && address.includes(":") ? ipaddr.IPv6.parse(address) : undefined
}
