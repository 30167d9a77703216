import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { sql } from 'kysely'
import { type HostileProvider, type Lies, startHostileProvider } from '../stand-ins/hostile-provider.ts'
import { type Browser, count, newMailbox, sharedPair } from './seller.ts'
import type { Answer, TestShop } from './shop.ts'

// Two services that share a database and a hostile provider, for all tests of a file.

export const START = '/api/auth/idp'
export const CALLBACK = '/api/auth/idp/callback'
export const HOME = 'http://shop.test/shop/'
export const ACCOUNT = 'http://shop.test/account/'
export const SIGN_IN = 'http://shop.test/sign-in/'

export const settingsOf = ({
  issuer,
  clientId,
  clientSecret,
}: {
  issuer: string
  clientId: string
  clientSecret: string
}) => ({
  IDP_ISSUER: issuer,
  IDP_CLIENT_ID: clientId,
  IDP_CLIENT_SECRET: clientSecret,
})

export const env: Record<string, string> = {}
export let provider: HostileProvider
export let shared: ReturnType<typeof sharedPair>

/** Called at the top of a file: both run while its tests do. */
export function shareProvider(): void {
  const ends: (() => unknown)[] = []
  const pair = sharedPair(async () => {
    provider = await startHostileProvider({ after: (end) => ends.push(end) })
    return Object.assign(env, settingsOf(provider.settings))
  })
  // another file of this process may have set it while it was loaded
  before(() => void (shared = pair))
  after(async () => {
    for (const end of ends) await end()
  })
}

export interface Claims {
  sub?: string
  email?: unknown
  email_verified?: unknown
}

export const newSubject = (): string => `sub-${randomBytes(6).toString('hex')}`
export const newPerson = (claims: Claims = {}): Claims & { sub: string; email: any } => ({
  sub: newSubject(),
  email: newMailbox(),
  email_verified: true,
  ...claims,
})

export const locationOf = ({ status, headers }: Answer): string => {
  assert.equal(status, 302)
  assert.equal(headers.get('cache-control'), 'no-store')
  return headers.get('location') ?? ''
}

/** To the provider and back to our door, which is not opened yet. */
export async function goThere(
  browser: Browser,
  { lies = {}, path = START, at = provider }: { lies?: Lies; path?: string; at?: HostileProvider } = {},
): Promise<string> {
  at.lies = lies
  const { pathname, search } = await at.signIn(locationOf(await browser.call('GET', path)))
  return pathname + search
}

/** The whole way; where it ends. */
export async function comeBackAs(browser: Browser, person: Claims, path = START): Promise<string> {
  const back = await goThere(browser, { lies: { claims: { ...person } }, path })
  return locationOf(await browser.call('GET', back, undefined, { 'sec-fetch-site': 'cross-site' }))
}

export const of = (email: string) => sql<boolean>`email = ${email}`
export const identitiesOf = (shop: TestShop, subject: string) => count(shop, 'identities', sql`subject = ${subject}`)
export const sellerIdOf = async (browser: Browser): Promise<string> => (await browser.session()).body.seller?.id
export const attemptNames = ({ jar }: Browser): string[] => jar.names().filter((name) => name.startsWith('till_idp_'))
