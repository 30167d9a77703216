import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { examine as examineFor, examineConfig as examineConfigFor } from '../../scripts/doctor/examine.ts'
import type { Finding } from '../../scripts/doctor/finding.ts'
import { checkCookies } from '../../scripts/doctor/settings.ts'
import { baseManifest } from '../../src/backup/names.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { type Vault, openVault } from '../../src/kit/vault/vault.ts'
import { startIdentityProvider } from '../stand-ins/identity-provider.ts'
import { startRazorpayServer } from '../stand-ins/razorpay-server.ts'
import { atEnd } from '../support/ends.ts'
import { ACCOUNT } from '../support/razorpay-setup.ts'
import { razorpaySettings } from '../support/razorpay-shop.ts'
import { startS3Server } from '../stand-ins/s3-server.ts'
import { bareEnvironment, embeddedOf, serviceFolder, startService } from '../support/service.ts'
import { emptyDatabase } from '../support/databases.ts'
import { type Ends, SECRET, type TestShop, newDatabase, startTestShop, temporaryFolder } from '../support/shop.ts'
import { startStripeServer } from '../stand-ins/stripe-server.ts'

const DOCTOR = fileURLToPath(new URL('../../scripts/doctor.ts', import.meta.url))
/** Nothing listens at this address. */
const DEAD = 'http://127.0.0.1:4'
/** Of backups. */
const KEY = 'a key of the backups that is long enough'
type Env = Record<string, string>
/** The checks wait for a server that answers, however busy the machine is. */
const PATIENT = { checkMs: 60_000, requestMs: 50_000 }
const examine = (env: Env, patience = PATIENT) => examineFor(env, patience)
const examineConfig = (config: Config) => examineConfigFor(config, PATIENT)

/** The one finding about something. */
function about(findings: Finding[], name: string): Finding {
  const found = findings.filter((one) => one.about === name)
  assert.equal(found.length, 1, `${name}: ${JSON.stringify(findings, null, 1)}`)
  return found[0]!
}

function assertSays(findings: Finding[], name: string, mark: Finding['mark'], says: RegExp): void {
  const found = about(findings, name)
  assert.equal(found.mark, mark, JSON.stringify(found))
  assert.match(found.says, says)
  assert.equal(Boolean(found.advice), mark !== 'fine', 'each bad finding has advice')
}

const settingsOf = async (t: Ends, more: Env = {}): Promise<Env> => ({
  DATA_DIR: await temporaryFolder(t),
  SECRET,
  BASE_URL: DEAD,
  ...more,
})

async function startMailServer(t: Ends, behaviour: SMTPServerOptions = {}): Promise<string> {
  const server = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'shop' && password === 'its pass%word'
        ? done(null, { user: 'shop' })
        : done(Object.assign(new Error('no'), { responseCode: 535 })),
    ...behaviour,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  atEnd(t, () => new Promise<void>((resolve) => server.close(resolve)))
  return `127.0.0.1:${(server.server.address() as net.AddressInfo).port}`
}

/** A server that gives this response to every request. */
async function startStranger(t: Ends, answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
}

/** Takes every connection and says nothing. */
async function startSilence(t: Ends, endsAt = Infinity): Promise<{ port: number; mostAtOnce: () => number }> {
  const sockets = new Set<net.Socket>()
  let mostAtOnce = 0
  const server = net
    .createServer((socket) => {
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)))
      mostAtOnce = Math.max(mostAtOnce, sockets.size)
      if (mostAtOnce >= endsAt) for (const one of sockets) one.destroy()
    })
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as net.AddressInfo).port, mostAtOnce: () => mostAtOnce }
}

/** A shop with both processors, and its settings as its operator has them. */
async function startWholeShop(t: Ends, more: Env = {}) {
  const stripe = await startStripeServer()
  atEnd(t, stripe.close)
  const razorpay = await startRazorpayServer(ACCOUNT)
  atEnd(t, () => razorpay.close())
  const keys = { ...stripeSettings(stripe), ...razorpaySettings(razorpay), ...more }
  const shop = await startTestShop(t, { env: keys })
  stripe.bank.addWebhookEndpoint(`${shop.url}/api/webhooks/stripe`)
  return { stripe, razorpay, shop, env: await settingsOf(t, { ...keys, ...addressesOf(shop) }) }
}

const addressesOf = ({ url, databaseUrl, config }: TestShop): Env => ({
  BASE_URL: url,
  DATABASE_URL: databaseUrl,
  DATA_DIR: config.dataDir,
})

const stripeSettings = ({ url, secretKey = 'sk_test_till', webhookSecret = 'whsec_till' }: Partial<{ url: string; secretKey: string; webhookSecret: string }>): Env => ({
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_PUBLISHABLE_KEY: secretKey.replace(/^[sr]k/, 'pk'),
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_URL: url ?? DEAD,
}) // oxfmt-ignore

test('a shop with everything has only good findings, and the examination leaves nothing behind', async (t) => {
  const { shop, env } = await startWholeShop(t)
  const provider = await startIdentityProvider({ redirectUris: [`${shop.url}/api/auth/idp/callback`] })
  atEnd(t, provider.close)
  const findings = await examine({
    ...env,
    SMTP_URL: `smtp://shop:${encodeURIComponent('its pass%word')}@${await startMailServer(t)}`,
    MAIL_FROM: 'Shop <shop@shop.example>',
    IDP_ISSUER: provider.issuer,
    IDP_CLIENT_ID: provider.clientId,
    IDP_CLIENT_SECRET: provider.clientSecret,
  })
  const notFine = findings.filter(({ mark }) => mark !== 'fine')
  assert.deepEqual(
    notFine.map((one) => one.about),
    ['razorpay notifies'],
    'it cannot reach a machine such as this one by itself',
  )
  for (const [name, says] of [
    ['settings', /private service .* stripe, razorpay/],
    ['stripe keys', /test keys/],
    ['database', /PostgreSQL \d+; its schema is up to date/],
    ['storage', /GB free/],
    ['mail', /answers, signed in; mails come from Shop/],
    ['sign-in', /api\/auth\/idp\/callback/],
    ['stripe', /takes the key, in test mode/],
    ['stripe statement', /lines begin with TILL, as STATEMENT_PREFIX says/],
    ['stripe notifies', /of all needed events/],
    ['razorpay', /takes the key, in test mode/],
    ['service', /is ready/],
    ['pages', /\/pay\/ answers/],
    ['stripe webhook', /accepts signed notifications/],
    ['razorpay webhook', /accepts signed notifications/],
    ['clock', /within \d+ s of/],
  ] as const)
    assertSays(findings, name, 'fine', says)
  const { rows } = await sql`select event_id from processor_events`.execute(shop.db)
  assert.deepEqual(rows, [])
})

test('where sellers have accounts of their own, the doctor asks for the platform, its notifications and their secret', async (t) => {
  const stripe = await startStripeServer()
  atEnd(t, stripe.close)
  const keys = { ...stripeSettings(stripe), PAYOUTS: 'stripe-connect' }
  const shop = await startTestShop(t, { env: keys })
  const url = `${shop.url}/api/webhooks/stripe`
  stripe.bank.addWebhookEndpoint(url)
  const env = await settingsOf(t, { ...keys, ...addressesOf(shop) })
  const bad = await examine(env)
  assertSays(bad, 'sellers’ accounts secret', 'warning', /has one secret/)
  assertSays(bad, 'sellers’ accounts notify', 'warning', /cannot reach this machine/)

  const address = stripe.bank.addWebhookEndpoint(url, ['payment_intent.succeeded'], { connect: true })
  const two = { ...env, STRIPE_WEBHOOK_SECRET: 'whsec_till,whsec_sellers' }
  const types = await examine(two)
  assertSays(types, 'sellers’ accounts notify', 'failure', /not of .*account\.updated.*payout\.failed/)
  address['enabled_events'] = ['*']
  const good = await examine(two)
  assertSays(good, 'sellers’ accounts', 'fine', /can be opened/)
  assertSays(good, 'sellers’ accounts notify', 'fine', /of all needed events/)
  assertSays(good, 'stripe notifies', 'fine', /of all needed events/)

  stripe.knobs.forbidden = ['/v1/accounts']
  assertSays(await examine(two), 'sellers’ accounts', 'failure', /no platform/)

  stripe.knobs.forbidden = ['/v1/payouts', '/v1/balance_transactions']
  const unread = await examine(two)
  assertSays(unread, 'sellers’ accounts payouts', 'failure', /may not read balance, payouts, which/)
  // a shop without such accounts needs neither
  assertSays(unread, 'stripe', 'fine', /takes the key/)
  const manual = await examine({ ...two, PAYOUTS: 'manual' })
  assertSays(manual, 'stripe', 'fine', /takes the key/)
  assert(manual.every((one) => one.about !== 'sellers’ accounts payouts'))
})

test('where Razorpay passes sellers’ money on, the doctor asks whether the account has Route', async (t) => {
  const razorpay = await startRazorpayServer(ACCOUNT)
  atEnd(t, () => razorpay.close())
  const env = await settingsOf(t, { ...razorpaySettings(razorpay), PAYOUTS: 'razorpay-route' })
  assertSays(await examine(env), 'sellers’ accounts', 'fine', /can be opened/)
  razorpay.route.isOn = false
  assertSays(await examine(env), 'sellers’ accounts', 'failure', /does not have Route/)
  // an outage says nothing about it
  razorpay.break(/transfers/, 'server_error', 9)
  assertSays(await examine(env), 'razorpay', 'failure', /answers, but not as it should/)
})

test('the doctor also checks the sandbox’s webhook address', async (t) => {
  const shop = await startTestShop(t)
  const findings = await examine(await settingsOf(t, addressesOf(shop)))
  assertSays(findings, 'sandbox webhook', 'fine', /accepts signed notifications/)
  assertSays(findings, 'mail', 'fine', /\/outbox\//)
})

test('of the backups of an own server the doctor knows only the last drill', async (t) => {
  const shop = await startTestShop(t)
  const env = await settingsOf(t, addressesOf(shop))
  const drills = async () =>
    (await examine(env)).filter(({ about: what }) => what === 'backup' || what === 'restore drill')
  assert.deepEqual(await drills(), [])
  await sql`insert into backup_runs (kind, started_at, problem) values ('drill', now(), 'the books differ in 2 places')`.execute(shop.db) // oxfmt-ignore
  const [drill, ...others] = await drills()
  assert.deepEqual([drill!.about, drill!.mark, others], ['restore drill', 'failure', []])
  assert.match(drill!.says, /the books differ in 2 places/)
})

test('the doctor names a copy whose manifest is damaged, and looks at the others', async (t) => {
  const folder = await temporaryFolder(t)
  const [vault, others] = [KEY, `another ${KEY}`].map((key) => openVault({ folder }, [key])) as [Vault, Vault]
  const config = readConfig(await settingsOf(t, { BACKUP_URL: `file:${folder}`, BACKUP_KEY: KEY }))
  const found = async () =>
    (await examineConfig(config)).filter(({ about: what }) => what === 'backup').map(({ mark, says }) => [mark, says])
  const finishedAt = new Date().toISOString()
  const manifest = { cluster: 'first', startedAt: finishedAt, finishedAt, firstSegment: '000000010000000000000001' }
  for (const id of ['one', 'two']) await vault.putJson(baseManifest(id), manifest)
  await fs.truncate(path.join(folder, baseManifest('one')), 60)
  assert.deepEqual(await found(), [
    ['fine', `the newest is of ${finishedAt}, and can be read`],
    ['failure', 'base/one/manifest is damaged'],
  ])
  await others.putJson(baseManifest('one'), manifest)
  assert.deepEqual((await found()).map(([mark]) => mark), ['failure']) // oxfmt-ignore
})

test('where nothing listens, each finding says so, and what to do', async (t) => {
  const findings = await examine({
    ...(await settingsOf(t, stripeSettings({}))),
    ...razorpaySettings({ url: DEAD }),
    DATABASE_URL: 'postgres://till:a-password-of-ours@127.0.0.1:4/till',
    SMTP_URL: 'smtp://127.0.0.1:4',
    IDP_ISSUER: DEAD,
    IDP_CLIENT_ID: 'till',
    IDP_CLIENT_SECRET: 'a secret',
  })
  for (const name of ['database', 'sign-in', 'stripe', 'razorpay'])
    assertSays(findings, name, 'failure', /nothing listens there/)
  assert.match(findings.find(({ says }) => says.startsWith('127.0.0.1:4:'))!.says, /nothing listens there/)
  assertSays(findings, 'service', 'warning', /nothing listens there/)
  assert.doesNotMatch(JSON.stringify(findings), /a-password-of-ours/)
})

/** Settings by which everything is at the port of a server that never answers. */
async function silentSettings(t: Ends, port: number): Promise<Env> {
  const url = `http://127.0.0.1:${port}`
  return {
    ...(await settingsOf(t, stripeSettings({ url }))),
    ...razorpaySettings({ url }),
    BASE_URL: url,
    DATABASE_URL: `postgres://till:a-password@127.0.0.1:${port}/till`,
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    MAIL_FROM: 'shop@shop.example',
    IDP_ISSUER: url,
    IDP_CLIENT_ID: 'till',
    IDP_CLIENT_SECRET: 'a secret',
  }
}

test('a check that hangs is given up', async (t) => {
  const { port } = await startSilence(t)
  const findings = await examine(await silentSettings(t, port), { checkMs: 2_000, requestMs: 1_000 })
  for (const name of ['database', 'mail', 'sign-in', 'stripe', 'razorpay'])
    assertSays(findings, name, 'failure', /no answer in time/)
  assertSays(findings, 'service', 'warning', /no answer in time/)
})

test('all checks are made side by side', async (t) => {
  // database, mail, sign-in, Stripe, Razorpay and the service: one after the other there would be one connection at a time
  const { port, mostAtOnce } = await startSilence(t, 6)
  const findings = await examine(await silentSettings(t, port), { checkMs: 60_000, requestMs: 30_000 })
  assert(mostAtOnce() >= 6, `${mostAtOnce()} at once`)
  // a check that was given up can leave its connection open beside the next check
  assert.doesNotMatch(JSON.stringify(findings), /no answer in time/)
})

test('a mail server with a wrong certificate would get no mail', async (t) => {
  const server = await startMailServer(t, { disabledCommands: [] })
  const findings = await examine(
    await settingsOf(t, { SMTP_URL: `smtp://${server}`, MAIL_FROM: 'Till <till@localhost>' }),
  )
  const [tls, sender] = findings.filter((one) => one.about === 'mail')
  assert.deepEqual([tls!.mark, sender!.mark], ['failure', 'warning'])
  assert.match(tls!.says, /its certificate (has expired|is of no known)/)
  assert.match(sender!.advice!, /MAIL_FROM/)
})

test('a mail server without TLS gets no mail, unless the setting allows it', async (t) => {
  const SMTP_URL = `smtp://${(await startMailServer(t, { authOptional: true })).replace('127.0.0.1', '0.0.0.0')}`
  const says = async (url: string) => examine(await settingsOf(t, { SMTP_URL: url, MAIL_FROM: 'shop@shop.example' }))
  const refused = await says(SMTP_URL)
  assertSays(refused, 'mail', 'failure', /offers no TLS .*no mail is sent/)
  assert.match(about(refused, 'mail').advice!, /\?tls=none/)
  assertSays(await says(`${SMTP_URL}?tls=none`), 'mail', 'warning', /has no TLS .* can read every code$/)
})

test('the doctor names refused keys and passwords', async (t) => {
  const { env, shop } = await startWholeShop(t)
  const findings = await examine({
    ...env,
    STRIPE_SECRET_KEY: 'sk_test_another',
    RAZORPAY_KEY_SECRET: 'another secret',
    SMTP_URL: `smtp://shop:another-password@${await startMailServer(t)}`,
    MAIL_FROM: 'shop@shop.example',
    DATABASE_URL: shop.databaseUrl.replace(/:[^:@/]+@/, ':another-password@'),
  })
  for (const name of ['stripe', 'razorpay']) assertSays(findings, name, 'failure', /does not know the key/)
  assertSays(findings, 'mail', 'failure', /user or password is refused/)
  assertSays(findings, 'database', 'failure', /user or password is refused/)
  assert.doesNotMatch(JSON.stringify(findings), /sk_test_another|another secret|another-password|whsec_/)
})

test('a password that is an ordinary word removes no word from the findings, and appears in no address', async (t) => {
  const env = await settingsOf(t, { DATABASE_URL: 'postgres://user:password@127.0.0.1:1/database', SMTP_URL: 'smtp://a:connection@127.0.0.1:1', MAIL_FROM: 'a@b.example' }) // oxfmt-ignore
  const findings = await examine(env)
  assertSays(findings, 'database', 'failure', /nothing listens there \(connection refused\)/)
  assert.doesNotMatch(JSON.stringify(findings), /:(?:password|connection)@/)
})

test('the doctor names missing permissions of a restricted key; a missing right to read webhook addresses is no failure', async (t) => {
  const { env, stripe } = await startWholeShop(t)
  stripe.knobs.forbidden = ['/v1/disputes', '/v1/payment_method_configurations', '/v1/webhook_endpoints']
  const findings = await examine(env)
  assertSays(findings, 'stripe', 'failure', /may not read disputes, payment method configurations$/)
  stripe.knobs.forbidden = ['/v1/webhook_endpoints']
  const rest = await examine({ ...env, PROCESSORS: 'stripe' })
  assertSays(rest, 'stripe', 'fine', /takes the key/)
  assert.notEqual(about(rest, 'stripe notifies').mark, 'failure')
})

test('the doctor names an account with another prefix than STATEMENT_PREFIX, with both ways to fix it', async (t) => {
  const { env, stripe } = await startWholeShop(t)
  stripe.bank.statementPrefix = 'ANNS'
  const findings = await examine({ ...env, PROCESSORS: 'stripe' })
  assertSays(findings, 'stripe statement', 'warning', /begin with ANNS, and STATEMENT_PREFIX is TILL/)
  assert.match(
    about(findings, 'stripe statement').advice!,
    /STATEMENT_PREFIX=ANNS, or the shortened descriptor .* to TILL/,
  )
  stripe.knobs.forbidden = ['/v1/account']
  const untold = await examine({ ...env, PROCESSORS: 'stripe' })
  assertSays(untold, 'stripe', 'fine', /takes the key/)
  assert.deepEqual(
    untold.filter((one) => one.about === 'stripe statement'),
    [],
  )
})

test('the doctor says whether wallets can show in a frame; a missing right to read that is no failure', async (t) => {
  const { shop, env, stripe } = await startWholeShop(t)
  const wallets = async () => {
    const config = { ...readConfig({ ...env, PROCESSORS: 'stripe' }), appUrl: 'https://pay.shop.example' }
    return (await examineConfig(config)).filter((one) => one.about === 'stripe wallets')
  }
  assertSays(await wallets(), 'stripe wallets', 'warning', /pay\.shop\.example is not registered/)
  stripe.bank.addMethodDomain('pay.shop.example', false)
  assertSays(await wallets(), 'stripe wallets', 'warning', /is not registered/)
  stripe.bank.methodDomains[0]!['enabled'] = true
  assertSays(await wallets(), 'stripe wallets', 'fine', /^registered: pay\.shop\.example$/)
  for (const host of ['one.example', '*.wild.example', 'localhost:3000'])
    await sql`insert into sites (seller_id, host) values (${shop.sellerId}, ${host})`.execute(shop.db)
  assertSays(await wallets(), 'stripe wallets', 'warning', /^one\.example is not registered/)
  stripe.bank.addMethodDomain('one.example')
  assertSays(await wallets(), 'stripe wallets', 'fine', /and all sites \(1\)/)
  stripe.knobs.forbidden = ['/v1/payment_method_domains']
  assert.deepEqual(await wallets(), [])
})

test('the doctor tries each payment method in the settings, and leaves none open', async (t) => {
  const { env, stripe } = await startWholeShop(t)
  const listed = { ...env, PROCESSORS: 'stripe', STRIPE_PAYMENT_METHOD_TYPES: 'card,sepa_debit,us_bank_account' }
  const name = 'stripe ways to pay'
  assertSays(await examine(listed), name, 'fine', /by card, sepa_debit, us_bank_account can be started/)
  stripe.bank.notActivated.add('sepa_debit')
  assertSays(
    await examine(listed),
    name,
    'failure',
    /by sepa_debit \(payment_intent_invalid_parameter, req_\w+\) are refused/,
  )
  assert.deepEqual([...new Set(stripe.bank.paymentIntents.map((one) => one['status']))], ['canceled'])
  // the lowest amount in forints is more than the tried one
  stripe.bank.defaultCurrency = 'huf'
  const forints = { ...listed, STRIPE_PAYMENT_METHOD_TYPES: 'card' }
  assertSays(await examine(forints), name, 'fine', /by card can be started/)
})

test('a page in HTML is no valid answer, from any server', async (t) => {
  const url = await startStranger(t, (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>'),
  )
  const env = await settingsOf(t, { ...stripeSettings({ url }), ...razorpaySettings({ url }), BASE_URL: url })
  const findings = await examine({ ...env, IDP_ISSUER: url, IDP_CLIENT_ID: 'till', IDP_CLIENT_SECRET: 'a secret' })
  for (const name of ['stripe', 'razorpay']) assertSays(findings, name, 'failure', /not as it should/)
  assertSays(findings, 'sign-in', 'failure', /no provider’s description.*200 text\/html/)
  assertSays(findings, 'service', 'failure', /not answered by Till, but with 200 text\/html/)
  assertSays(findings, 'pages', 'failure', /not the payment page/)
  for (const name of ['stripe webhook', 'razorpay webhook'])
    assertSays(findings, name, 'failure', /not answered by Till, but with 200 text\/html/)
})

test('the doctor finds a wrong webhook address: a redirect, another secret, another database, another Till', async (t) => {
  const { shop, env } = await startWholeShop(t)
  const old = await startStranger(t, ({ url, method }, response) => {
    if (method === 'POST') return response.writeHead(301, { location: 'https://old.shop.example/x?token=1' }).end()
    void fetch(shop.url + url).then(async (answer) =>
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
    )
  })
  const redirected = await examine({ ...env, BASE_URL: old })
  assertSays(redirected, 'service', 'fine', /is ready/)
  assertSays(redirected, 'stripe webhook', 'failure', /a redirect to https:\/\/old\.shop\.example \(301\)$/)

  const otherSecret = await examine({ ...env, STRIPE_WEBHOOK_SECRET: 'whsec_new' })
  assertSays(otherSecret, 'stripe webhook', 'failure', /another secret for stripe/)
  assertSays(otherSecret, 'razorpay webhook', 'fine', /accepts/)

  const staging = await startTestShop(t, { env: { ...env, DATA_DIR: await temporaryFolder(t) } as Env, databaseUrl: await newDatabase(t) }) // oxfmt-ignore
  const otherDatabase = await examine({ ...env, BASE_URL: staging.url })
  for (const name of ['stripe webhook', 'razorpay webhook'])
    assertSays(otherDatabase, name, 'failure', /the same secret and another database/)

  const sandbox = await startTestShop(t)
  assertSays(await examine({ ...env, BASE_URL: sandbox.url }), 'stripe webhook', 'failure', /does not know stripe/)
})

test('the doctor compares the registered address and events with the needed ones', async (t) => {
  const { shop, env, stripe } = await startWholeShop(t)
  const { webhookEndpoints } = stripe.bank
  const endpoint = webhookEndpoints[0]!
  const notifies = async () => (await examineConfig({ ...readConfig(env), ...publicAddress })).filter((one) => one.about === 'stripe notifies')
  // as it would be for a shop that everybody can reach
  const publicAddress = { baseUrl: 'http://shop.invalid' }
  const marks = (findings: Finding[]) => findings.map(({ mark }) => mark)
  const url = 'http://shop.invalid/api/webhooks/stripe'

  webhookEndpoints.length = 0
  assert.match((await notifies())[0]!.says, /no address of ours/)
  stripe.bank.addWebhookEndpoint('https://old.shop.example/api/webhooks/stripe')
  assert.match((await notifies())[0]!.says, /^https:\/\/old\.shop\.example and not us/)
  endpoint['url'] = url
  webhookEndpoints.push(endpoint)
  const both = await notifies()
  assert.deepEqual(marks(both), ['warning'])
  assert.match(both[0]!.says, /old\.shop\.example too/)
  webhookEndpoints.shift()
  assert.deepEqual(marks(await notifies()), ['fine'])
  endpoint['status'] = 'disabled'
  const disabled = await notifies()
  assert.deepEqual([marks(disabled), /is disabled/.test(disabled[0]!.says)], [['failure'], true])
  endpoint['status'] = 'enabled'
  endpoint['enabled_events'] = ['payment_intent.succeeded', 'charge.refunded']
  const few = await notifies()
  assert.deepEqual(marks(few), ['failure'])
  assert.match(few[0]!.says, /not of payment_intent\.processing, .*charge\.dispute\.created/)
  endpoint['enabled_events'] = ['*']
  stripe.bank.addWebhookEndpoint(url)
  assert.match((await notifies())[0]!.says, /registered 2 times/)
  webhookEndpoints.length = 0
  assert.match((await examine({ ...env, BASE_URL: shop.url })).find((one) => one.about === 'stripe notifies')!.advice!, /stripe listen --forward-to/)
}) // oxfmt-ignore

test('a clock that is a minute off is a warning, and at ten minutes every notification would be refused', async (t) => {
  const { env, stripe, razorpay } = await startWholeShop(t)
  stripe.knobs.clockAheadSeconds = 60
  assertSays(await examine(env), 'clock', 'warning', /(5\d|60) s behind that of stripe; it agrees with .*razorpay/)
  stripe.knobs.clockAheadSeconds = razorpay.clockAheadSeconds = -600
  assertSays(
    await examine(env),
    'clock',
    'failure',
    /6[0-2]\d s ahead of that of (stripe|razorpay).*refuses every notification/,
  )
})

test('the doctor compares the identity provider’s issuer with IDP_ISSUER', async (t) => {
  const provider = await startIdentityProvider({ redirectUris: ['http://127.0.0.1/x'] })
  atEnd(t, provider.close)
  const issuer = provider.issuer.replace('127.0.0.1', 'localhost')
  const env = await settingsOf(t, { IDP_ISSUER: issuer, IDP_CLIENT_ID: 'till', IDP_CLIENT_SECRET: 'a secret' })
  const findings = await examine(env)
  assertSays(findings, 'sign-in', 'failure', /calls itself http:\/\/127\.0\.0\.1/)
  assert.equal(about(findings, 'sign-in').advice, `set IDP_ISSUER=${provider.issuer}`)
})

test('the doctor finds a folder that cannot be written to, and makes no missing one', async (t) => {
  const folder = await temporaryFolder(t)
  const file = path.join(folder, 'file')
  await fs.writeFile(file, '')
  const env = await settingsOf(t)
  assertSays(await examine({ ...env, STORAGE_URL: `file:${file}` }), 'storage', 'failure', /cannot be written to/)
  assertSays(await examine({ ...env, STORAGE_URL: `file:${file}/below` }), 'storage', 'failure', /cannot be written to/)
  const missing = path.join(folder, 'a', 'b')
  assertSays(await examine({ ...env, STORAGE_URL: `file:${missing}` }), 'storage', 'fine', /the first start makes/)
  assert.deepEqual(await fs.readdir(folder), ['file'])
})

test('the doctor writes to a bucket, reads and cleans up, or names the refused step', async (t) => {
  const s3 = await startS3Server(t)
  const env = await settingsOf(t, s3.env)
  assertSays(await examine(env), 'storage', 'fine', /till-files at .*fetched by a signed address and removed/)
  assert.deepEqual([...s3.objects.keys()], [])
  const wrong = await examine({ ...env, S3_SECRET_ACCESS_KEY: 'another secret of somebody' })
  assertSays(wrong, 'storage', 'failure', /cannot be written to: SignatureDoesNotMatch \(403\)/)
  assertSays(await examine({ ...env, STORAGE_URL: env.STORAGE_URL!.replace('till-files', 'other') }), 'storage', 'failure', /NoSuchBucket/) // oxfmt-ignore
  s3.weather.unlisted = true
  assertSays(await examine(env), 'storage', 'failure', /lack the right s3:ListBucket, .* no upload in pieces works/)
  assert.deepEqual([...s3.objects.keys()], [])
  s3.weather.full = true
  assertSays(await examine(env), 'storage', 'failure', /cannot be written to: XMinioStorageFull \(507\)/)
})

test('the doctor notices missing migrations, and those of a newer version', async (t) => {
  const shop = await startTestShop(t)
  const env = await settingsOf(t, addressesOf(shop))
  await sql`delete from kysely_migration where name = (select max(name) from kysely_migration)`.execute(shop.db)
  assertSays(await examine(env), 'database', 'warning', /1 migrations? (is|are) not done/)
  await sql`insert into kysely_migration (name, timestamp) values ('999_tomorrow', '')`.execute(shop.db)
  assertSays(await examine(env), 'database', 'failure', /of a newer Till \(999_tomorrow\)/)
  await sql`insert into kysely_migration (name, timestamp) select max(name), '' from migration_needs`.execute(shop.db)
  await sql`insert into migration_needs (name, needs) values ('999_tomorrow', null)`.execute(shop.db)
  assertSays(await examine(env), 'database', 'fine', /a newer Till has added to its schema, which this one can use/)
  const [, server, name] = /^(.*\/)([^/?]+)$/.exec(shop.databaseUrl)!
  const missing = await examine({ ...env, DATABASE_URL: `${server}${name}_missing` })
  assertSays(missing, 'database', 'failure', /there is no such database/)
})

test('in a new, empty database the doctor finds nothing wrong: the first start fills it', async (t) => {
  const findings = await examine(await settingsOf(t, { DATABASE_URL: await emptyDatabase(t) }))
  assertSays(findings, 'database', 'fine', /; empty, the first start fills it$/)
  for (const name of ['backup', 'restore drill', 'payouts'])
    assert.deepEqual(findings.filter((one) => one.about === name), []) // oxfmt-ignore
})

test('the doctor warns of sellers in euros where no account is set to pay them from', async (t) => {
  const shop = await startTestShop(t)
  const env = await settingsOf(t, addressesOf(shop))
  const about = async (more: Record<string, string> = {}) =>
    (await examine({ ...env, ...more })).filter((one) => one.about === 'payouts')
  await shop.product({ currency: 'USD' })
  assert.deepEqual(await about(), [], 'dollars go into a CSV')
  await shop.product({ currency: 'EUR' })
  assertSays(await about(), 'payouts', 'warning', /no account is set to pay them from/)
  assert.deepEqual(await about({ SIGNUP: 'closed' }), [], 'only the operator sells')
  const payer = { PAYOUT_FROM_NAME: 'Till GmbH', PAYOUT_FROM_IBAN: 'DE89370400440532013000' }
  assertSays(await about(payer), 'payouts', 'fine', /in euros from DE … 3000/)
})

test('pages on a static host must call this API, and be in its site', async (t) => {
  const shop = await startTestShop(t)
  const page = (api: string) => `<!doctype html><meta name="till-api" content="${api}" />`
  let api = 'https://old.shop.example'
  const host = await startStranger(t, (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(api)),
  )
  const env = await settingsOf(t, { ...addressesOf(shop), APP_URL: host })
  assertSays(await examine(env), 'pages', 'failure', /calls another API/)
  api = shop.url
  assertSays(await examine(env), 'pages', 'fine', /answers/)
  const otherSite = await examineConfig({ ...readConfig(env), appUrl: 'https://pay.elsewhere.example' })
  assertSays(otherSite, 'sessions', 'failure', /two sites/)
})

test('the doctor tells two sites below a suffix of many owners from two hosts of one site', () => {
  const of = (api: string, pages: string) =>
    checkCookies({ baseUrl: `https://${api}`, appUrl: `https://${pages}`, cookieDomain: undefined, operators: [] }).mark
  assert.equal(of('api.shop.co.uk', 'shop.co.uk'), 'fine')
  assert.equal(of('api.a.b.shop.example', 'pay.shop.example'), 'fine')
  assert.equal(of('api.co.uk', 'pay.co.uk'), 'failure')
  assert.equal(of('api.fly.dev', 'pay.fly.dev'), 'failure')
  assert.equal(of('10.1.0.7', '10.2.0.7'), 'failure')
})

test('the doctor says that operators cannot enter by a host that never sees their session', () => {
  const hosts = { baseUrl: 'https://api.shop.example', appUrl: 'https://pay.shop.example', cookieDomain: undefined }
  const operators = ['ann@shop.example']
  assertSays([checkCookies({ ...hosts, operators })], 'sessions', 'failure', /pay\.shop\.example.*\/operator\/.*404/)
  for (const right of [
    { ...hosts, operators: [] },
    { ...hosts, operators, cookieDomain: 'shop.example' },
    { ...hosts, operators, appUrl: hosts.baseUrl },
  ])
    assert.equal(checkCookies(right).mark, 'fine', JSON.stringify(right))
})

test('the doctor warns loudly of keys of the wrong mode', async (t) => {
  const live = await settingsOf(t, stripeSettings({ secretKey: 'sk_live_till' }))
  assertSays(await examine(live), 'settings', 'failure', /^STRIPE_SECRET_KEY: a live key needs PUBLIC=1/)
  const config = { ...readConfig(await settingsOf(t, stripeSettings({}))), isPublic: true }
  const findings = await examineConfig(config)
  assertSays(findings, 'stripe keys', 'warning', /TEST KEYS ON A PUBLIC SERVICE.*NO MONEY MOVES/)
  assertSays(findings, 'STRIPE_API_URL', 'warning', /not to the processor/)
  assertSays(findings, 'service', 'failure', /nothing listens there/)
  assertSays(findings, 'mail', 'failure', /no mail server/)
})

test('without a processor the doctor says that no payment is live, of whatever kind', async (t) => {
  const findings = await examine(await settingsOf(t, { PROCESSORS: 'none' }))
  assertSays(findings, 'settings', 'fine', /; no processor: payments are not live$/)
})

test('the command shows failures by a cross, a text and its exit status, and no secret', async (t) => {
  const run = async (env: Env, ...args: string[]) => {
    const child = spawn(process.execPath, [DOCTOR, '--wait=60', ...args], { env: { ...bareEnvironment(), ...env } })
    const [output, errors, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number]>,
    ])
    return { output, errors, status }
  }
  const { env } = await startWholeShop(t)
  const well = await run(env)
  assert.deepEqual([well.status, well.errors], [0, ''], well.output)
  assert.match(well.output, /^✓ stripe +answers and takes the key/m)
  assert.match(well.output, /^! razorpay notifies .*\n +→ /m)
  assert.match(well.output, /\n\n\d+ fine, 1 to look at, 0 wrong\n$/)
  for (const secret of ['sk_test', 'whsec', SECRET, ACCOUNT.keySecret, ACCOUNT.webhookSecret])
    assert(!well.output.includes(secret), secret)

  for (const wrong of ['--wait=soon', '--wait=0', '--wait=601']) {
    const refused = await run(env, wrong)
    assert.deepEqual(
      [refused.status, refused.output, refused.errors],
      [2, '', '--wait: expected seconds from 1 to 600\n'],
    )
  }
  const broken = await run({ ...env, PUBLIC: '1', COOKIE_DOMAIN: 'x', STRIPE_SECRET_KEY: 'sk_live_other' })
  assert.equal(broken.status, 1)
  for (const name of ['SMTP_URL', 'BASE_URL', 'COOKIE_DOMAIN', 'STRIPE_PUBLISHABLE_KEY'])
    assert.match(broken.output, new RegExp(`^✗ settings  ${name}: .*\\n +→ `, 'm'))
  assert.doesNotMatch(broken.output, /sk_live_other/)

  const json = await run({ ...env, STRIPE_WEBHOOK_SECRET: 'whsec_other' }, '--json')
  assert.equal(json.status, 1)
  assert.equal(about(JSON.parse(json.output), 'stripe webhook').mark, 'failure')
})

test('the doctor neither makes the embedded database, nor takes it from a running service, nor changes a stopped one', async (t) => {
  const folder = serviceFolder(t)
  const settings = { DATA_DIR: folder, SECRET, BASE_URL: DEAD }
  assertSays(await examine(settings), 'database', 'fine', /the first start makes it/)
  assert.deepEqual(await fs.readdir(folder), [])

  const service = await startService(t, folder)
  const { pid } = embeddedOf(folder)
  const beside = await examine({ ...settings, BASE_URL: service.url })
  assertSays(beside, 'database', 'fine', /embedded, PostgreSQL \d+; its schema is up to date/)
  assertSays(beside, 'sandbox webhook', 'fine', /accepts/)
  assert.equal(embeddedOf(folder).pid, pid)
  assert.equal((await service.checkout()).status, 201)

  service.child.kill('SIGTERM')
  await once(service.child, 'exit')
  assertSays(await examine(settings), 'database', 'fine', /its schema is up to date/)
  assert.throws(() => embeddedOf(folder), /does not run/)
})
