import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Email } from 'postal-mime'
import { codeOf } from '../../src/sellers/codes.ts'
import { deliverUntil, parsed, says, startMailServer } from '../stand-ins/mail-server.ts'
import { atEnd } from '../support/ends.ts'
import { PASSWORD, type Browser, cookiesOf, newBrowser, newMailbox } from '../support/seller.ts'
import { startDatabaseProxy } from '../support/service.ts'
import {
  type Ends,
  SECRET,
  type ShopOptions,
  type TestShop,
  assertProblem,
  eventually,
  newDatabase,
  startTestShop,
} from '../support/shop.ts'

// Mail servers that misbehave, and a database that is down, during sign-ins.

const FROM = 'Till <till@shop.example>'

const codeIn = ({ subject }: Email): string => subject!.slice(0, 6)

/** A mail server that takes connections and never says a word. */
async function startSilence(t: Ends): Promise<{ url: string; connections: () => number }> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => sockets.add(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `smtp://127.0.0.1:${(server.address() as net.AddressInfo).port}`, connections: () => sockets.size }
}

/** The address of a mail server that is down: nothing listens at this port. */
const NOWHERE = 'smtp://127.0.0.1:1'

const withSmtp = (t: Ends, url: string, deadlines: ShopOptions['deadlines'] = {}) =>
  startTestShop(t, { env: { SMTP_URL: url, MAIL_FROM: FROM }, deadlines })

/** Code jobs in the states that are named. */
async function jobsIn({ db }: TestShop, ...states: string[]): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pgboss.job where starts_with(name, 'seller_code') and state::text = any(${states})`.execute(
    db,
  )
  return rows[0]!.n
}

const codeOfMailbox = async ({ db }: TestShop, email: string): Promise<string> => {
  const { rows } = await sql<{
    id: string
  }>`select id from mailbox_codes where email = ${email} order by created_at desc limit 1`.execute(db)
  return codeOf(SECRET, rows[0]!.id)
}

const until = <T>(ask: () => T, wanted: (answer: T) => boolean) => eventually(async () => ask(), wanted)

test('a mail server that says “later” gets the same code later, and it still works', async (t) => {
  let tries = 0
  const server = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => (tries++ < 2 ? done(says(451, 'greylisted, try again')) : done()),
  })
  const shop = await withSmtp(t, server.url)
  const browser = newBrowser(shop)
  const email = newMailbox()
  assert.equal((await browser.askCode(email)).status, 202)
  const code = await codeOfMailbox(shop, email)
  await deliverUntil(
    shop,
    () => jobsIn(shop, 'created', 'retry', 'active'),
    (open) => open === 0,
  )
  assert.deepEqual([tries, await jobsIn(shop, 'completed')], [3, 1])
  assert.deepEqual(
    server.mails.map(({ to, mail }) => [to, codeIn(mail)]),
    [[[email], code]],
  )
  assert.equal((await browser.tryCode(email, code)).status, 200)
})

test('a mail server that refuses for good is asked once, and the response does not reveal it', async (t) => {
  let asked = 0
  const server = await startMailServer(t, {
    onRcptTo({ address }, _session, done) {
      if (!address.startsWith('gone')) return done()
      asked++
      done(says(550, 'no such mailbox'))
    },
  })
  const shop = await withSmtp(t, server.url)
  const [good, bad] = [newMailbox(), `gone.${newMailbox()}`]
  const answers = [await newBrowser(shop).askCode(bad), await newBrowser(shop).askCode(good)]
  assert.deepEqual([answers[0]!.status, answers[0]!.body], [answers[1]!.status, answers[1]!.body])
  await until(
    () => server.mails,
    ({ length }) => length === 1,
  )
  await eventually(
    () => jobsIn(shop, 'created', 'retry', 'active'),
    (open) => open === 0 && asked > 0,
  )
  assert.equal(asked, 1)
})

test('a code whose acceptance was lost comes again as the same mail with the same code', async (t) => {
  const got: { to: string[]; code: string; messageId: string | undefined }[] = []
  const server = await startMailServer(t, {
    onData(stream, { envelope }, done) {
      void parsed(stream).then((mail) => {
        got.push({ to: envelope.rcptTo.map(({ address }) => address), code: codeIn(mail), messageId: mail.messageId })
        if (got.length > 1) return done()
        // all bytes arrived, and the server never confirms it
        const { connections } = this as unknown as { connections: Set<{ _socket: net.Socket }> }
        for (const connection of connections) connection._socket.destroy()
      })
    },
  })
  const shop = await withSmtp(t, server.url)
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  await deliverUntil(
    shop,
    () => jobsIn(shop, 'created', 'retry', 'active'),
    (open) => open === 0,
  )
  assert.equal(got.length, 2)
  assert.deepEqual(got[0], got[1])
  assert.equal((await browser.tryCode(email, got[0]!.code)).status, 200)
  assert.deepEqual([got.length, await jobsIn(shop, 'created', 'retry', 'active')], [2, 0])
})

test('codes that can no longer be used are not sent: run out, used, or replaced by a newer one', async (t) => {
  let isBusy = true
  const server = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => (isBusy ? done(says(451, 'busy')) : done()),
  })
  const shop = await withSmtp(t, server.url)
  const [late, used, replaced] = [newMailbox(), newMailbox(), newMailbox()]
  const [browser, replacing] = [newBrowser(shop), newBrowser(shop)]
  await newBrowser(shop).askCode(late)
  await replacing.askCode(replaced)
  await browser.askCode(used)
  await eventually(
    () => jobsIn(shop, 'retry'),
    (waiting) => waiting === 3,
  )
  assert.equal((await browser.tryCode(used, await codeOfMailbox(shop, used))).status, 200)
  await replacing.askCode(replaced)
  await sql`update mailbox_codes set expires_at = now() - interval '1 second' where email = ${late}`.execute(shop.db)
  // a try that began before has looked at the codes as they were
  await eventually(
    () => jobsIn(shop, 'created', 'active'),
    (underWay) => underWay === 0,
  )
  isBusy = false
  await deliverUntil(
    shop,
    () => jobsIn(shop, 'created', 'retry', 'active'),
    (open) => open === 0,
  )
  assert.deepEqual(
    server.mails.map(({ to, mail }) => [to, codeIn(mail)]),
    [[[replaced], await codeOfMailbox(shop, replaced)]],
  )
})

test('a mail server that hangs, or is down, delays no request for a code, and the other ways to sign in work', async (t) => {
  const silence = await startSilence(t)
  const fine = await startTestShop(t)
  // a request that waited for this mail server would not be answered during the test
  const hanging = await withSmtp(t, silence.url, { smtpMs: 3_600_000 })
  const away = await withSmtp(t, NOWHERE)
  const answers = []
  for (const shop of [fine, hanging, away, hanging]) {
    const { status, body } = await newBrowser(shop).askCode(newMailbox())
    answers.push([status, body])
    if (shop === hanging) await until(silence.connections, (connections) => connections > 0)
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal(await jobsIn(hanging, 'completed'), 0, 'and no mail counts as sent')

  const browser = newBrowser(hanging)
  const email = newMailbox()
  await browser.askCode(email)
  await browser.tryCode(email, await codeOfMailbox(hanging, email))
  await browser.setPassword()
  assert.equal((await newBrowser(hanging).signIn(email)).status, 200)
  assert.equal((await hanging.call('GET', '/readyz')).status, 200)
})

test('a mail about a change of the account waits while the mail server is busy, and comes once', async (t) => {
  let isAway = true
  const server = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => (isAway ? done(says(451, 'busy')) : done()),
  })
  const shop = await withSmtp(t, server.url)
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.askCode(email)
  await browser.tryCode(email, await codeOfMailbox(shop, email))
  await browser.setPassword()
  const notices = (...states: string[]) =>
    sql<{ id: string }>`
      select id from pgboss.job where name = 'notice' and state::text = any(${states})`
      .execute(shop.db)
      .then(({ rows }) => rows.length)
  await eventually(
    () => notices('retry'),
    (waiting) => waiting === 1,
  )
  isAway = false
  await deliverUntil(
    shop,
    () => notices('completed'),
    (done) => done === 1,
  )
  assert.equal(server.mails.filter(({ to }) => to[0] === email).length, 1)
})

/** One request of each kind that needs the database, from a signed-in seller. */
const needingTheDatabase = (browser: Browser, email: string) =>
  ({
    'POST /api/auth/otp': () => browser.askCode(email),
    'GET /api/auth/otp': () => browser.call('GET', '/api/auth/otp'),
    'POST /api/auth/otp/verify': () => browser.tryCode(email, '000000'),
    'POST /api/auth/password': () => browser.signIn(email),
    'PUT /api/auth/password': () => browser.call('PUT', '/api/auth/password', { newPassword: PASSWORD }),
    'GET /api/auth/session': () => browser.session(),
    'DELETE /api/auth/session': () => browser.call('DELETE', '/api/auth/session'),
    'GET /api/auth/sessions': () => browser.call('GET', '/api/auth/sessions'),
    'DELETE /api/auth/sessions': () => browser.call('DELETE', '/api/auth/sessions'),
    'DELETE /api/auth/sessions/{sessionId}': () =>
      browser.call('DELETE', '/api/auth/sessions/ses_01m7y9ddw03mvznr65rfk4ah2z'),
    'PATCH /api/auth/seller': () => browser.call('PATCH', '/api/auth/seller', { name: 'Zoe' }),
    'POST /api/auth/email': () => browser.call('POST', '/api/auth/email', { email: newMailbox() }),
    'POST /api/auth/email/verify': () => browser.call('POST', '/api/auth/email/verify', { code: '000000' }),
    'GET /api/auth/identities': () => browser.call('GET', '/api/auth/identities'),
    'POST /api/auth/identities': () => browser.call('POST', '/api/auth/identities', {}),
    'DELETE /api/auth/identities/{identityId}': () =>
      browser.call('DELETE', '/api/auth/identities/idn_01m7y9ddw03mvznr65rfk4ah2z'),
    'GET /api/auth/history': () => browser.call('GET', '/api/auth/history'),
    'GET /api/auth/mails': () => browser.call('GET', '/api/auth/mails'),
    'PATCH /api/auth/mails': () => browser.call('PATCH', '/api/auth/mails', { saleMails: 'daily' }),
  }) satisfies Record<string, () => Promise<unknown>>
const NEEDING_NONE = ['GET /api/auth/providers', 'GET /api/auth/idp', 'GET /api/auth/idp/callback']

test('while the database is down every way to sign in says so, signs out no one, and works again afterwards', async (t) => {
  const wire = await startDatabaseProxy(t, await newDatabase(t))
  // with limits: their counters need the database too
  const env = { LIMITS: 'code=1000/900,code_address=1000/900,code_try=1000/900,password=1000/900' }
  const shop = await startTestShop(t, { databaseUrl: wire.url, env })
  const browser = newBrowser(shop)
  const email = newMailbox()
  await browser.signInByCode(email)
  await browser.setPassword()
  await browser.askCode(email)
  const asks = needingTheDatabase(browser, email)
  const { body: api } = await shop.call('GET', '/api/openapi.json')
  const routes = Object.entries<object>(api.paths)
    .filter(([path]) => path.startsWith('/api/auth/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  assert.deepEqual(routes.sort(), [...Object.keys(asks), ...NEEDING_NONE].sort(), 'every route is asked')

  const code = await browser.codeFor(email)
  await wire.cut()
  for (const [route, ask] of Object.entries(asks)) {
    const answer = await ask()
    assert.equal(answer.status, 503, `${route}: ${answer.status}`)
    assertProblem(answer, 503, 'database_unavailable')
    assert(Number(answer.headers.get('retry-after')) > 0, route)
    assert.deepEqual(cookiesOf(answer.headers), [], `${route}: what the browser holds stays good`)
  }
  assert.deepEqual((await browser.call('GET', '/api/auth/providers')).body, { idp: false })
  const start = await browser.call('GET', '/api/auth/idp')
  assert.deepEqual(
    [start.status, start.headers.get('location')],
    [302, 'http://shop.test/sign-in/?error=idp_not_configured'],
  )
  assert.equal((await shop.call('GET', '/healthz')).status, 200)
  await wire.mend()
  await eventually(
    () => browser.isSignedIn(),
    (yes) => yes,
  )
  assert.equal((await browser.tryCode(email, code)).status, 200)
  assert.equal((await newBrowser(shop).signIn(email)).status, 200)
})
