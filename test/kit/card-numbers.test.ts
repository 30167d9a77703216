import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Db, connect } from '../../src/kit/database.ts'
import { newLog } from '../../src/kit/log.ts'
import { derivedKey } from '../../src/kit/signing.ts'
import { signature } from '../../src/processors/sandbox/notify.ts'
import { atEnd } from '../support/ends.ts'
import { newBrowser } from '../support/seller.ts'
import { type Service, startService } from '../support/service.ts'
import { SECRET, type TestShop, assertProblem, newDatabase, sharedShop, temporaryFolder } from '../support/shop.ts'

/** Numbers that are published for tests, and are nowhere else in the searched data. */
const DIGITS = '4000002500003155'
const GROUPED = '4000 0025 0000 3155'
const FULL_WIDTH = DIGITS.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
const ESCAPED = DIGITS.replace(/\d/g, (digit) => `\\u003${digit}`)
const PERCENT = DIGITS.replace(/\d/g, (digit) => `%3${digit}`)
const UNSAFE = /^(?:POST|PUT|PATCH|DELETE)$/

interface Operation {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: { properties: Record<string, unknown> } }> }
}

interface Attempt {
  method: string
  address: string
  body?: string
  headers?: Record<string, string>
}

/** Whether the number is in a text, in any grouping or encoding, or in bytes that a database shows in hexadecimal. */
function holdsNumber(text: string): boolean {
  const plain = text.normalize('NFKC').replaceAll(/\\+u003(\d)|%3(\d)/g, '$1$2')
  const bare = plain.replaceAll(/[\s\p{Pd}+]|%20/gu, '')
  const inHex = [DIGITS, GROUPED].map((number) => Buffer.from(number).toString('hex'))
  return [DIGITS, ...inHex].some((written) => bare.includes(written))
}

/** The tables of every schema in which a row holds the number in any of its columns; and how many rows were looked at. */
async function tablesWithNumber(db: Db): Promise<{ found: string[]; looked: Map<string, number> }> {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select schemaname as schema, tablename as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(db)
  const found: string[] = []
  const looked = new Map<string, number>()
  for (const { schema, name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(`${schema}.${name}`)} t`.execute(
      db,
    )
    looked.set(`${schema}.${name}`, rows.length)
    if (rows.some(({ row }) => holdsNumber(row))) found.push(`${schema}.${name}`)
  }
  return { found, looked }
}

/**
 * All places of one route in which a client could send a number, each in one spelling. Each place has its own request, because a route
 * could keep what it reads from one of them alone. The spellings take turns from place to place and from route to route;
 * src/kit/card-numbers.test.ts tries each of them in bodies and addresses.
 */
function attemptsAt(path: string, method: string, { parameters = [], requestBody }: Operation, at: number): Attempt[] {
  let place = at
  const oneOf = <T>(spellings: readonly T[]): T => spellings[place++ % spellings.length]!
  const inAddress = () => oneOf([DIGITS, PERCENT, encodeURIComponent(GROUPED), encodeURIComponent(FULL_WIDTH)])
  const inHeader = () => oneOf([DIGITS, GROUPED])
  const known = path.replaceAll(/\{\w+\}/g, 'x')
  const sent = { method, address: known, ...(requestBody && { body: '{}' }) }
  const queries = [...parameters.filter((one) => one.in === 'query').map(({ name }) => name), 'note']
  const attempts: Attempt[] = [
    ...queries.map((name) => ({ ...sent, address: `${known}?${name}=${inAddress()}` })),
    { ...sent, address: `${known}?${inAddress()}` },
    { ...sent, address: `${known.replace(/\/$/, '')}/${inAddress()}` },
    ...(path.includes('{') ? [{ ...sent, address: path.replaceAll(/\{\w+\}/g, inAddress()) }] : []),
    { ...sent, headers: { 'idempotency-key': inHeader() } },
    { ...sent, headers: { 'user-agent': `Browser ${inHeader()}` } },
    { ...sent, headers: { 'x-forwarded-for': inHeader() } },
    ...['session', 'code', 'known', 'idp_x'].map((name) => ({
      ...sent,
      headers: { cookie: `till_${name}=${inHeader()}` },
    })),
  ]
  // the service reads no file as text; the file's name is in the address
  const isBytes = requestBody !== undefined && !requestBody.content['application/json']
  if (!UNSAFE.test(method) || isBytes || /^\/api\/(webhooks|uploads)\b/.test(path)) return attempts
  const members = Object.keys(requestBody?.content['application/json']?.schema.properties ?? {})
  const bodies = [
    ...[...members, 'note', 'card'].map((name) =>
      oneOf([
        ...[DIGITS, GROUPED, FULL_WIDTH, `${DIGITS}@example.com`, [DIGITS], { number: GROUPED }].map((value) =>
          JSON.stringify({ [name]: value }),
        ),
        `{"${name}":${DIGITS}}`,
        `{"${name}":"${ESCAPED}"}`,
      ]),
    ),
    oneOf([JSON.stringify({ [DIGITS]: true }), `{"a":{"b":[{"${ESCAPED}":null}]}}`, `[${DIGITS}]`, `"${GROUPED}"`]),
  ]
  return [...attempts, ...bodies.map((body) => ({ method, address: known, body }))]
}

/** The service as it runs, with all it writes to its log, and its database. */
async function startWatched(t: { after(end: () => unknown): void }) {
  const databaseUrl = await newDatabase(t)
  const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace', TRUST_PROXY: '1' }
  const service = await startService(t, await temporaryFolder(t), env)
  const { db, close } = connect({ connectionString: databaseUrl }, { connections: 2, patient: true })
  atEnd(t, close)
  return { service, db }
}

/** A seller's browser at a service in another process. */
const browserAt = ({ url }: Service, db: Db) => {
  const call = async (method: string, address: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await fetch(url + address, {
      method,
      headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(text !== undefined && { body: text }),
      redirect: 'manual',
    })
    const said = await answer.text()
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    return { status: answer.status, headers: answer.headers, body: isJson && said ? JSON.parse(said) : said }
  }
  return newBrowser({ call, db, config: { baseUrl: url } } as unknown as TestShop)
}

test('a card’s number sent to any route, anywhere in the request, is refused, and is in no log and no table', async (t) => {
  const { service, db } = await startWatched(t)
  const seller = browserAt(service, db)
  await seller.signInByCode()
  const stranger = browserAt(service, db)

  const { body: api } = await service.call('GET', '/api/openapi.json')
  const routes = Object.entries<Record<string, Operation>>(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  assert(routes.length >= 25, String(routes.length))
  const pages = ['/', '/pay/', '/order/', '/pricing/', '/sign-in/', '/account/', '/outbox/', '/metrics', '/api/docs', '/api/docs/checkout', '/nowhere'] // oxfmt-ignore
  const attempts: Attempt[] = [
    ...routes.flatMap(({ path, method, operation }, at) => attemptsAt(path, method, operation, at)),
    ...pages.flatMap((path, at) => attemptsAt(path, 'GET', {}, at)),
    ...['OPTIONS', 'HEAD', 'PROPFIND'].map((method) => ({ method, address: `/api/checkout?a=${DIGITS}` })),
  ]
  assert(attempts.some(({ body }) => body?.includes('"password"')) && attempts.some(({ body }) => body?.includes('"name"'))) // oxfmt-ignore
  const origin = new URL(service.url).origin
  let refused = 0
  const rest = attempts.flatMap((attempt) => [stranger, seller].map((browser) => ({ browser, ...attempt })))
  const work = async () => {
    for (let one = rest.pop(); one; one = rest.pop()) {
      const { browser, method, address, body, headers = {} } = one
      // a session beside the number, where both are cookies
      const cookie = [browser.jar.header(new URL(service.url)), headers.cookie].filter(Boolean).join('; ')
      const answer = await browser.call(method, address, body, { ...headers, ...(cookie && { cookie }), origin })
      const shown = `${method} ${address} ${body ?? ''} ${JSON.stringify(headers)}`
      if (address.startsWith('/api/operator/') && answer.status !== 400) {
        // an address that does not exist for others: nothing of the request is read
        assertProblem(answer, 404, 'not_found')
      } else if (method !== 'HEAD') {
        assertProblem(answer, 400, 'card_number_refused')
        assert.match(answer.body.detail, /card numbers are typed only into the payment form/)
      } else assert.equal(answer.status, 400, shown)
      assert(!holdsNumber(JSON.stringify([answer.body, [...answer.headers]])), shown)
      refused++
    }
  }
  await Promise.all(Array.from({ length: 12 }, work))
  assert(refused > 800, String(refused))
  assert(await seller.isSignedIn(), 'and no session ended')

  // a request for no route of ours is refused as that, and is not stored either
  for (const [type, body] of [
    ['text/plain', GROUPED],
    ['application/x-www-form-urlencoded', `number=${DIGITS}`],
    ['application/json', `{"number":"${DIGITS}"`],
    ['application/json', `{"a":"${DIGITS}","a":"${DIGITS}"}`],
  ] as const) {
    const answer = await stranger.call('POST', '/api/checkout', body, { 'content-type': type })
    assert([400, 415].includes(answer.status) && !holdsNumber(JSON.stringify(answer.body)), body)
  }
  // a notification comes from the processor: it is accepted, and only its known fields are stored
  const notify = async (headers?: Record<string, string>) =>
    (await stranger.call('POST', '/api/webhooks/sandbox', NOTIFICATION, headers)).status
  assert.equal(await notify(), 400)
  assert.equal(await notify(signedNow()), 200)
  const { rows: notified } = await sql`select 1 from processor_events`.execute(db)
  assert.equal(notified.length, 1)

  const { found, looked } = await tablesWithNumber(db)
  assert.deepEqual(found, [])
  for (const table of ['public.sessions', 'public.outbox', 'public.processor_events', 'pgboss.job'])
    assert((looked.get(table) ?? 0) > 0, `${table} was looked at`)

  service.child.kill('SIGTERM')
  await once(service.child, 'close')
  const lines = service.output().split('\n')
  assert(lines.filter((line) => line.includes('"msg":"request"')).length >= refused, 'the log has a line a request')
  assert.deepEqual(lines.filter(holdsNumber), [])
})

test('the refusal names the fields or the header with a card number, and does not repeat it', async () => {
  const shop = shared()
  const pathsOf = async (body: string, headers = {}, address = '/api/checkout') => {
    const answer = await shop.call('POST', address, body, { 'content-type': 'application/json', ...headers })
    assertProblem(answer, 400, 'card_number_refused')
    assert(!holdsNumber(JSON.stringify(answer.body)))
    return answer.body.fields?.map(({ path }: { path: string }) => path)
  }
  for (const [body, paths] of [
    [{ email: 'bob@example.com', productId: GROUPED }, ['productId']],
    [{ productId: DIGITS, email: `${DIGITS}@example.com` }, ['productId', 'email']],
    [{ a: { b: ['x', { c: FULL_WIDTH }] } }, ['a.b.1.c']],
    [{ a: { [DIGITS]: true } }, ['a']],
    [{ [DIGITS]: true }, undefined],
    [{ '4000': { '0025': { '0000': { '3155': DIGITS } } } }, undefined],
    [DIGITS, undefined],
    [{ ['x'.repeat(200)]: DIGITS }, undefined],
    [Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, DIGITS])), Array.from({ length: 10 }, (_, at) => `m${at}`)], // oxfmt-ignore
  ] as const)
    assert.deepEqual(await pathsOf(JSON.stringify(body)), paths, JSON.stringify(body).slice(0, 80))
  assert.deepEqual(await pathsOf(`{"a":${DIGITS}}`), ['a'])
  for (const name of ['idempotency-key', 'user-agent', 'x-forwarded-for'])
    assert.deepEqual(await pathsOf('{}', { [name]: GROUPED }), [name])
  assert.deepEqual(await pathsOf('{}', { cookie: `till_code=${DIGITS}` }), ['cookie'])
  assert.deepEqual(await pathsOf('{}', {}, `/api/checkout?a=${DIGITS}`), undefined)
})

const NOTIFICATION = JSON.stringify({
  id: 'evt_of_something_else',
  type: 'card.updated',
  note: DIGITS,
  number: GROUPED,
})
const signedNow = () =>
  signature(derivedKey(SECRET, 'sandbox webhook'), 'evt_of_something_else', Math.floor(Date.now() / 1000), NOTIFICATION)

const shared = sharedShop()

test('the search finds a number that is put into a table, whichever and however', async () => {
  const { db } = shared()
  assert.deepEqual((await tablesWithNumber(db)).found, [])
  const plants: [string, ReturnType<typeof sql>, ReturnType<typeof sql>][] = [
    ['public.limits', sql`insert into limits (key, count, until) values (${`password from ${DIGITS}`}, 1, now())`, sql`delete from limits`],
    ['public.outbox', sql`insert into outbox (id, recipient, subject, text, html) values (${randomUUID()}, 'a', 'b', ${`My card is ${GROUPED}.`}, '')`, sql`delete from outbox`],
    ['public.mailbox_codes', sql`insert into mailbox_codes (id, email, purpose, browser_hash, code_hash, expires_at) values (${randomUUID()}, 'a@b.example', 'sign_in', ${Buffer.from(`${DIGITS}${DIGITS}`)}, ${Buffer.alloc(32)}, now())`, sql`delete from mailbox_codes`],
    ['pgboss.job', sql`insert into pgboss.job (name, data, start_after) select name, ${JSON.stringify({ a: [{ card: '4000-0025-0000-3155' }] })}::jsonb, 'infinity' from pgboss.queue where name = 'mail'`, sql`delete from pgboss.job where name = 'mail'`],
  ] // oxfmt-ignore
  for (const [table, plant, remove] of plants) {
    await plant.execute(db)
    const { found } = await tablesWithNumber(db)
    // a partition is a table too
    assert(found.includes(table) && found.every((one) => one === table || one.startsWith('pgboss.')), `${table}: ${found.join()}`) // oxfmt-ignore
    await remove.execute(db)
  }
  assert.deepEqual((await tablesWithNumber(db)).found, [])
})

test('the search finds a number in a line of the log', () => {
  const lines: string[] = []
  const log = newLog('trace')
  const written = Object.getOwnPropertySymbols(log).find((symbol) => symbol.description === 'pino.stream')!
  ;(log as any)[written] = { write: (line: string) => lines.push(line) }
  log.trace({ route: '/api/checkout' }, 'request')
  assert(lines.length === 1 && !holdsNumber(lines[0]!))
  log.trace({ body: { number: GROUPED } }, 'request')
  log.trace({ url: `/api/checkout?number=${PERCENT}` }, 'request')
  log.trace(`what was sent: {"number":"${ESCAPED}"}`)
  log.trace({ agent: `Browser ${DIGITS}` }, 'request')
  assert.deepEqual(lines.map(holdsNumber), [false, true, true, true, true])
})
