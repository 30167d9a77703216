import net from 'node:net'

/** Clients whose address is no IP address. They count as one network: if each had its own, no limit would hold. */
export const NO_ADDRESS = 'no address'

/**
 * The IP address in a forwarded text. Some proxies forward the client's port too, as `192.0.2.7:51324` or `[2001:db8::1]:443`.
 * Undefined for a text that is no IP address.
 */
export function ipOf(text: string): string | undefined {
  const bare = (/^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text))?.[1] ?? text
  const address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare
  return net.isIP(address) > 0 ? address : undefined
}
