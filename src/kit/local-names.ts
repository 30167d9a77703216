/** A name or an address of this machine itself. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || hostname === '::1' || /^127\.\d+\.\d+\.\d+$/.test(hostname)

/** A name that browsers resolve to their own machine only (RFC 6761, section 6.3). */
export const isLocalName = (hostname: string): boolean => isLoopback(hostname) || hostname.endsWith('.localhost')
