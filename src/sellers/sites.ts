import { sql } from 'kysely'
import { type Db, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import type { Jobs } from '../kit/jobs.ts'
import { SITE_HOSTS, registrableHost } from './site-hosts.ts'
import { standingOf } from './standing.ts'

/** All of them stand in one header of the framed checkout. */
const MOST_SITES = 20
/** Where developers try their pages. Browsers take only these for safe without https. */
const LOCAL = /^(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/
/** Names with at least two parts. The last one begins with a letter, so it is no IP address. */
const NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](?::\d{1,5})?$/

export interface Site {
  host: string
  createdAt: Date
}

/** A site as a policy of browsers names it: its scheme, its host, and its port where it has one. */
export const sourceOf = (host: string): string => `${LOCAL.test(host) ? 'http' : 'https'}://${host}`

/** Whether an address lies on one of the sites. `*.shop.example` has all names below it, and not `shop.example` itself. */
export function isOnSites(hosts: readonly string[], address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || url.username !== '' || url.password !== '') return false
  const source = `${url.protocol}//${url.host}`
  return hosts.some((host) =>
    host.startsWith('*.')
      ? url.protocol === 'https:' && url.host.endsWith(host.slice(1)) && url.host.length >= host.length
      : source === sourceOf(host),
  )
}

/** A host as it is stored: in lower case, in the letters of the domain name system, without the default port. Refuses `site_not_valid`. */
export function siteHost(typed: string): string {
  const isWild = typed.startsWith('*.')
  const plain = isWild ? typed.slice(2) : typed
  const scheme = LOCAL.test(plain) ? 'http' : 'https'
  const url =
    /^[^/\\?#@\s]+$/.test(plain) && URL.canParse(`${scheme}://${plain}`) ? new URL(`${scheme}://${plain}`) : undefined
  const host = url?.host ?? ''
  if (!url || host === '' || !(NAME.test(host) || (LOCAL.test(host) && !isWild)))
    throw new Refusal('site_not_valid', 'Name the host alone, such as shop.example, *.shop.example or localhost:3000.')
  return isWild ? `*.${host}` : host
}

/** A wildcard must stay below a domain of one owner: below `github.io` everybody has pages. Refuses `site_not_valid`. */
export async function refuseManyOwners(host: string): Promise<void> {
  if (!host.startsWith('*.')) return
  const { getDomain } = await import('tldts')
  const { hostname } = new URL(`https://${host.slice(2)}`)
  if (getDomain(hostname, { allowPrivateDomains: true }) === null)
    throw new Refusal('site_not_valid', `Names below ${hostname} belong to many owners. Name yours.`)
}

export async function listSites(db: Db, sellerId: string): Promise<Site[]> {
  const { rows } = await sql<Site>`
    select host, created_at as "createdAt" from sites where seller_id = ${sellerId} order by host`.execute(db)
  return rows
}

/** Adds a site, and has the processors told. A repeat changes nothing. Refuses `too_many_sites`. */
export function addSite(db: Db, jobs: Pick<Jobs, 'add'>, sellerId: string, host: string): Promise<Site> {
  return inTransaction(db, async (tx) => {
    // simultaneous requests of one seller are counted one after the other
    await sql`select from sellers where id = ${sellerId} for no key update`.execute(tx)
    const sites = await listSites(tx, sellerId)
    const known = sites.find((site) => site.host === host)
    if (!known && sites.length >= MOST_SITES)
      throw new Refusal('too_many_sites', `A shop has at most ${MOST_SITES} sites. Remove one first.`)
    if (known) return known
    const name = registrableHost(host)
    if (name) await jobs.add(tx, SITE_HOSTS, [{ data: { host: name } }])
    const { rows } = await sql<Site>`
      insert into sites (seller_id, host) values (${sellerId}, ${host}) returning host, created_at as "createdAt"`.execute(
      tx,
    )
    return rows[0]!
  })
}

/** Orders that lead to the site keep their addresses. Refuses `site_not_found`. */
export async function removeSite(db: Db, sellerId: string, host: string): Promise<void> {
  const { rows } = await sql`
    delete from sites where seller_id = ${sellerId} and host = ${host} returning host`.execute(db)
  if (!rows[0]) throw new Refusal('site_not_found', 'There is no such site of yours.')
}

/** The hosts that processors can register, of all active sellers. */
export async function registrableHosts(db: Db): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select distinct t.host from sites t join sellers s on s.id = t.seller_id
    where s.disabled_at is null and ${standingOf('s')} = 'active' order by t.host`.execute(db)
  return [...new Set(rows.flatMap(({ host }) => registrableHost(host) ?? []))]
}

/** The hosts of the sites of a product's seller. */
export async function sitesOfProduct(db: Db, productId: string): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select s.host from products p join sites s on s.seller_id = p.seller_id where p.id = ${productId} order by s.host`.execute(
    db,
  )
  return rows.map(({ host }) => host)
}
