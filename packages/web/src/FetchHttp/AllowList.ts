/**
 * What the user lets the agent reach although it is no part of the internet: hosts, addresses and networks, each on one port or on all.
 */
import ipaddr from "ipaddr.js"
import * as Ranges from "./Ranges.ts"

interface Entry {
  readonly port: string | undefined
  /** Of a name as it was asked for. */
  readonly name: (host: string) => boolean
  /** Of an address that it has. */
  readonly address: (address: string) => boolean
}

export interface AllowList {
  /** Whether `host` may have `address`. `port` is always there. */
  readonly permits: (host: string, port: string, address: string) => boolean
}

const never = () => false

/** `[fd00::1]:8443`, `10.0.0.0/8:80`, `corp:8443`; an IPv6 address without brackets has no port. */
const split = (entry: string): { readonly host: string; readonly port: string | undefined } => {
  if (Ranges.parse(entry.replace(/\/\d+$/, "")) !== undefined) return { host: entry, port: undefined }
  const [, host = entry, port] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? []
  return { host: host.replace(/^\[([^\]]*)\]/, "$1"), port }
}

const network = (host: string): ((address: string) => boolean) | undefined => {
  const [base = "", bits] = host.split("/")
  const parsed = Ranges.parse(base)
  if (parsed === undefined) return undefined
  const length = bits === undefined ? (parsed.kind() === "ipv4" ? 32 : 128) : Number(bits)
  if (!Number.isInteger(length) || length < 0 || length > (parsed.kind() === "ipv4" ? 32 : 128)) return undefined
  return (address) => {
    const other = Ranges.parse(address)
    if (other === undefined) return false
    const same = plain(other)
    return same.kind() === parsed.kind() && same.match(parsed, length)
  }
}

/** A mapped address is the one that is mapped. */
const plain = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address

const named = (host: string): ((name: string) => boolean) | undefined => {
  const name = host.toLowerCase().replace(/\.$/, "")
  if (!/^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$/.test(name)) return undefined
  return name.startsWith("*.") ? (other) => other.endsWith(name.slice(1)) : (other) => other === name
}

/** The list, or the first entry that is none. */
export const parse = (entries: ReadonlyArray<string>): AllowList | { readonly invalid: string } => {
  const list: Array<Entry> = []
  for (const entry of entries) {
    const { host, port } = split(entry.trim())
    const address = network(host)
    const name = address === undefined ? named(host) : never
    if (name === undefined) return { invalid: entry }
    list.push({ port, name, address: address ?? never })
  }
  return {
    permits: (host, port, address) =>
      list.some((entry) => (entry.port ?? port) === port && (entry.name(host) || entry.address(address)))
  }
}
