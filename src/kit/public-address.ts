import dns from 'node:dns'
import net from 'node:net'
import os from 'node:os'
import { callbackify } from 'node:util'
import ipaddr from 'ipaddr.js'

/**
 * Where a request may go when a stranger chose its address. `loopback`: the internet and this machine, for trying things out.
 * `any`: also the networks behind the firewall.
 */
export type Reach = 'public' | 'loopback' | 'any'

/** The addresses that were handed out for the public internet. All other addresses are for special uses. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/**
 * Whether an address leads to the public internet. An IPv6 address that carries an IPv4 one inside does not, whichever address that is:
 * a gateway translates it, and only its network decides where the request goes then.
 */
export function isPublicAddress(text: string): boolean {
  if (net.isIP(text) === 0) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST)
}

export function isWithinReach(text: string, reach: Reach): boolean {
  if (reach === 'any' || isPublicAddress(text)) return true
  return reach === 'loopback' && net.isIP(text) > 0 && ipaddr.process(text).range() === 'loopback'
}

/** The failure of a look-up that found an address out of reach. */
class OutOfReach extends Error {
  readonly code = 'OUT_OF_REACH'
}

export type Lookup = (
  hostname: string,
  options: dns.LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void

/** For each name server: the first question waits this long for its answer, and the second twice as long. */
const QUESTION = { timeout: 2000, tries: 2 }

/**
 * Asks the name servers of the system, or `servers`, for the addresses of a stranger's name. It needs none of the process's threads:
 * getaddrinfo blocks one until the name's own server answers, so silent servers would stop every look-up of the process. Each look-up
 * asks for itself, so that a silent name counts against no name server, and a change of the system's servers holds for the next one.
 * Like getaddrinfo with the hint ADDRCONFIG, it leaves out a family of addresses that this machine cannot use.
 */
export function nameServerLookup(servers?: readonly string[]): Lookup {
  const ask = callbackify(addressesOf)
  return (hostname, { hints = 0 }, callback) =>
    ask(hostname, hints, servers, (error, addresses) => callback(error, addresses ?? []))
}

async function addressesOf(
  hostname: string,
  hints: number,
  servers: readonly string[] | undefined,
): Promise<dns.LookupAddress[]> {
  const resolver = new dns.promises.Resolver(QUESTION)
  if (servers) resolver.setServers(servers)
  const families = hints & dns.ADDRCONFIG ? familiesOfMachine() : FAMILIES
  const answers = await Promise.allSettled(
    families.map(async (family) => {
      const addresses = await (family === 6 ? resolver.resolve6(hostname) : resolver.resolve4(hostname))
      return addresses.map((address) => ({ address, family }))
    }),
  )
  const found = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  if (found.length > 0) return found
  const errors = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as NodeJS.ErrnoException] : []))
  // that one family has no addresses says less than what went wrong with the other
  throw errors.find(({ code }) => code !== dns.NODATA) ?? errors[0]!
}

/** A connection tries them in turn, so the one that fails at once where it does not work comes first. */
const FAMILIES = [6, 4] as const

function familiesOfMachine(): readonly (4 | 6)[] {
  const outward = Object.values(os.networkInterfaces()).flatMap((all = []) =>
    all.filter(({ address, internal }) => !internal && !address.startsWith('fe80:')),
  )
  const usable = FAMILIES.filter((family) => outward.some((one) => one.family === `IPv${family}`))
  return usable.length > 0 ? usable : FAMILIES
}

/**
 * A look-up for a connection. It fails unless every address of the name is within reach, and the connection goes to one of the
 * addresses that were checked: a name that answers differently a moment later gains nothing. Names beyond the public internet can stand
 * in the machine's own files, which only its own look-up reads.
 */
export function vettedLookup(
  reach: Reach,
  lookup: Lookup = reach === 'public' ? nameServerLookup() : dns.lookup,
): net.LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { family: options.family ?? 0, hints: options.hints ?? 0, all: true }, (error, addresses) => {
      const first = addresses?.[0]
      if (error) return callback(error, [])
      if (!first) return callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), [])
      if (!addresses.every(({ address }) => isWithinReach(address, reach)))
        return callback(new OutOfReach(`${hostname} has an address that is not of the public internet`), [])
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
