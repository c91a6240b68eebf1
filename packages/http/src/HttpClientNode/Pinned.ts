/**
 * Looking a name up without looking: it has the addresses that it is given.
 */
import * as Net from "node:net"

/** For Node's `lookup` option, which Node leaves alone where the host is an address already. */
export const lookup = (addresses: ReadonlyArray<string>): Net.LookupFunction => {
  const found = addresses.map((address) => ({ address, family: Net.isIP(address) }))
  return (hostname, { all, family = 0 }, callback) => {
    const wanted = family === "IPv4" ? 4 : family === "IPv6" ? 6 : family
    const fit = wanted === 0 ? found : found.filter((one) => one.family === wanted)
    const [first] = fit
    if (first === undefined) return callback(missing(hostname), "")
    return all === true ? callback(null, fit) : callback(null, first.address, first.family)
  }
}

const missing = (hostname: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`no address of ${hostname} can be used`), { code: "ENOTFOUND" })

/** Whether a connection to `url` is one to `addresses`, whatever Node makes of its host. */
export const covers = (addresses: ReadonlyArray<string>, url: URL): boolean => {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  return addresses.every((address) => Net.isIP(address) !== 0) && (Net.isIP(host) === 0 || addresses.includes(host))
}
