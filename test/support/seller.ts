import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { sql } from 'kysely'
import { hashOf } from '../../src/kit/tokens.ts'
import { type Answer, type Ends, type TestShop, assertProblem, eventually, newDatabase, startTestShop } from './shop.ts'

export interface Cookie {
  name: string
  value: string
  /** As it was set, by lower-case name; true for those without a value. */
  attributes: Record<string, string | true>
}

export type Browser = ReturnType<typeof newBrowser>

const UNSAFE = /^(?:POST|PUT|PATCH|DELETE)$/
export const PASSWORD = 'four lazy pelicans juggle'

/** An address that no other test uses. */
export const newMailbox = (): string => `${randomBytes(6).toString('hex')}@seller.test`

/**
 * A browser on one of our pages: it stores cookies and sends those that belong to the address, and sends the page's origin with
 * changes. `jar`: another browser's cookies, so that both are the same browser.
 */
export function newBrowser(
  shop: TestShop,
  { jar = newJar(), headers: always = {} }: { jar?: Jar; headers?: Record<string, string> } = {},
) {
  const baseUrl = shop.config.baseUrl ?? 'http://shop.test'
  const appOrigin = shop.config.appUrl ?? baseUrl

  const browser = {
    jar,
    headers: always,

    /** The same browser, at another service. */
    through: (other: TestShop) => newBrowser(other, { jar, headers: always }),

    async call<Body = any>(
      method: string,
      address: string,
      body?: unknown,
      headers: Record<string, string | undefined> = {},
    ): Promise<Answer<Body>> {
      const url = new URL(address, baseUrl)
      const cookie = jar.header(url, headers['sec-fetch-site'] === 'cross-site')
      const all = {
        'user-agent': FIREFOX,
        ...(cookie && { cookie }),
        ...(UNSAFE.test(method) && { origin: appOrigin }),
        ...always,
        ...headers,
      }
      const named = Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined)
      const answer = await shop.call<Body>(method, address, body, Object.fromEntries(named))
      jar.keep(url, answer.headers)
      return answer
    },

    async askCode(email: string): Promise<Answer<{ resendAfter: number }>> {
      return browser.call('POST', '/api/auth/otp', { email })
    },

    /** The code in the mail of the one that this browser waits for. */
    async codeFor(email: string): Promise<string> {
      const holder = jar.value('till_code') ?? jar.value('__Host-till_code') ?? ''
      const [mail] = await eventually(
        async () => {
          const { rows } = await sql<{ subject: string }>`
            select o.subject from mailbox_codes c
            join pgboss.job j on starts_with(j.name, 'seller_code') and j.data->>'id' = c.id::text
            join outbox o on o.id = j.id
            where c.email = ${email} and c.browser_hash = ${hashOf(holder)}`.execute(shop.db)
          return rows
        },
        (mails) => mails.length > 0,
      )
      return /\d{6}/.exec(mail!.subject)![0]
    },

    tryCode: (email: string, code: string): Promise<Answer> =>
      browser.call('POST', '/api/auth/otp/verify', { email, code }),

    /** Signed in, or up, by a code from the mailbox. */
    async signInByCode(email: string = newMailbox()): Promise<Answer> {
      const requested = await browser.askCode(email)
      assert.equal(requested.status, 202, JSON.stringify(requested.body))
      const answer = await browser.tryCode(email, await browser.codeFor(email))
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer
    },

    async setPassword(newPassword = PASSWORD, currentPassword?: string): Promise<void> {
      const answer = await browser.call('PUT', '/api/auth/password', {
        newPassword,
        ...(currentPassword !== undefined && { currentPassword }),
      })
      assert.equal(answer.status, 204, JSON.stringify(answer.body))
    },

    signIn: (email: string, password = PASSWORD): Promise<Answer> =>
      browser.call('POST', '/api/auth/password', { email, password }),

    session: (): Promise<Answer> => browser.call('GET', '/api/auth/session'),
    isSignedIn: async (): Promise<boolean> => (await browser.session()).status === 200,
  }
  return browser
}

/** A browser with the cookie of a code that the service has never made. */
export function newGuesser(shop: TestShop, { cookie = 'till_code', ...options }: Guesser = {}): Browser {
  const browser = newBrowser(shop, options)
  browser.jar.set(new URL(shop.config.baseUrl ?? 'http://shop.test'), cookie, randomBytes(32).toString('base64url'))
  return browser
}

interface Guesser {
  cookie?: string
  headers?: Record<string, string>
}

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** The mails with a code that lie in a mailbox, the newest first. */
export async function codeMails(shop: TestShop, email: string): Promise<{ code: string; sentAt: string }[]> {
  const { body } = await shop.call('GET', `/api/outbox?to=${encodeURIComponent(email)}`)
  return (body as { subject: string; sentAt: string }[]).flatMap(({ subject, sentAt }) => {
    const code = /^(\d{6}) /.exec(subject)?.[1]
    return code ? [{ code, sentAt }] : []
  })
}

/** Any but the right one. */
export const wrongCode = (right: string): string => String((Number(right) + 1) % 1_000_000).padStart(6, '0')

/** The cookies that an answer sets, as they were written. */
export const cookiesOf = (headers: Headers): Cookie[] =>
  headers.getSetCookie().map((line) => {
    const [pair = '', ...attributes] = line.split(/; */)
    const [name = '', value = ''] = divided(pair)
    return {
      name,
      value,
      attributes: Object.fromEntries(
        attributes.map((attribute) => {
          const [key = '', text] = divided(attribute)
          return [key.toLowerCase(), text ?? true]
        }),
      ),
    }
  })

const divided = (text: string): [string, string?] => {
  const at = text.indexOf('=')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

type Jar = ReturnType<typeof newJar>

/**
 * RFC 6265bis as far as our cookies need it: host-only and domain, path, Secure, SameSite, Max-Age, and the rules of name prefixes.
 */
function newJar() {
  const kept = new Map<string, { name: string; value: string; host?: string; domain?: string; path: string; secure: boolean; strict?: boolean; until: number }>() // oxfmt-ignore
  return {
    keep(url: URL, headers: Headers): void {
      for (const { name, value, attributes } of cookiesOf(headers)) {
        const { path = '/', domain, secure, samesite, 'max-age': maxAge } = attributes
        assert(!secure || url.protocol === 'https:', `${name}: a browser takes Secure on https only`)
        assert(!/^__(Secure|Host)-/.test(name) || secure, `${name} without Secure is not taken`)
        assert(!name.startsWith('__Host-') || (path === '/' && !domain), `${name} with a domain or a path is not taken`)
        const host = typeof domain === 'string' ? domain.toLowerCase() : undefined
        assert(!host || belongsTo(url.hostname, host), `${name}: ${url.hostname} is not in ${host}`)
        const cookie = { name, value, ...(host ? { domain: host } : { host: url.hostname }), path: String(path), secure: Boolean(secure), strict: samesite === 'Strict', until: maxAge === undefined ? Infinity : Date.now() + Number(maxAge) * 1000 } // oxfmt-ignore
        kept.set(`${name};${host ?? url.hostname};${String(path)}`, cookie)
      }
    },
    /** `fromElsewhere`: another site sends the browser here, so it leaves out SameSite=Strict cookies. */
    header: (url: URL, fromElsewhere = false): string =>
      [...kept.values()]
        .filter(
          ({ host, domain, path, secure, strict, until }) =>
            until > Date.now() &&
            (host ? host === url.hostname : belongsTo(url.hostname, domain!)) &&
            (url.pathname === path || url.pathname.startsWith(path.replace(/\/?$/, '/'))) &&
            (!secure || url.protocol === 'https:') &&
            !(strict && fromElsewhere),
        )
        .map(({ name, value }) => `${name}=${value}`)
        .join('; '),
    /** The cookies of that name, for any address. */
    value: (name: string): string | undefined =>
      [...kept.values()].find((cookie) => cookie.name === name && cookie.until > Date.now())?.value,
    set(url: URL, name: string, value: string): void {
      kept.set(`${name};${url.hostname};/`, { name, value, host: url.hostname, path: '/', secure: false, until: Infinity }) // oxfmt-ignore
    },
    names: (): string[] => [...kept.values()].filter(({ until }) => until > Date.now()).map(({ name }) => name),
    forget(name: string): void {
      for (const [key, cookie] of kept) if (cookie.name === name) kept.delete(key)
    },
  }
}

const belongsTo = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)

/** Two services on one database, for all the tests of a file. */
export function sharedPair(
  settings: Record<string, string> | (() => Promise<Record<string, string>>) = {},
): () => [TestShop, TestShop] {
  const ends: (() => unknown)[] = []
  const later: Ends = { after: (end) => ends.push(end) }
  let pair: [TestShop, TestShop] | undefined
  before(async () => {
    // the hooks of a file begin together, so a pair of services must not depend on another hook
    const env = typeof settings === 'function' ? await settings() : settings
    const databaseUrl = await newDatabase(later)
    pair = [await startTestShop(later, { env, databaseUrl }), await startTestShop(later, { env, databaseUrl })]
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return () => {
    assert(pair, 'the services did not start')
    return pair
  }
}

/** The limits whose names hold `part` have run out, as they do when their time is over. */
export const pauseIsOver = ({ db }: TestShop, part: string) =>
  sql`update limits set until = clock_timestamp() - interval '1 second' where position(${part} in key) > 0`.execute(db)

/** How many rows of a table there are, of those that match. */
export async function count({ db }: TestShop, table: string, where = sql`true`): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from ${sql.raw(table)} where ${where}`.execute(db)
  return rows[0]!.n
}

/** An address on the network that no other test has, as a proxy names it. */
export const newAddress = (): string => `10.${[...randomBytes(3)].join('.')}`

/** The answer says which limit was met, and when to come again. */
export function assertLimited(answer: Answer, limit: number, from: number, to: number): void {
  assertProblem(answer, 429, 'rate_limited')
  const { headers } = answer
  const again = Number(headers.get('retry-after'))
  assert(again > from && again <= to, `Retry-After: ${again}`)
  assert.deepEqual(
    ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => headers.get(name)),
    [String(limit), '0', String(again)],
  )
}

/** A new seller's browser, signed in by a code. */
export async function signedIn(shop: TestShop, email = newMailbox()) {
  const browser = newBrowser(shop)
  const { seller } = (await browser.signInByCode(email)).body
  return { browser, email, id: seller.id as string }
}

/** The value of the browser's session cookie. */
export const sessionToken = ({ jar }: Browser): string =>
  ['till_session', '__Host-till_session', '__Secure-till_session'].map((name) => jar.value(name)).find(Boolean)!
