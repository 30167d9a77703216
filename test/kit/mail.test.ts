import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { SMTPServer } from 'smtp-server'
import type { OrderStatus } from '../../src/checkout/schema.ts'
import { MailRefused, outboxMailer } from '../../src/kit/mail.ts'
import { smtpMailer } from '../../src/kit/smtp.ts'
import { atEnd } from '../support/ends.ts'
import { openJobs } from '../support/jobs.ts'
import { type MailServer, deliverUntil, parsed, says, startMailServer } from '../stand-ins/mail-server.ts'
import { quietPort } from '../support/quiet-port.ts'
import { newBrowser } from '../support/seller.ts'
import { eventually, sharedShop, startTestShop, type TestShop } from '../support/shop.ts'
import { timeText } from '../../src/words/say.ts'

const shared = sharedShop()
const FROM = 'Ann’s shop <till@shop.example>'

/** Mail jobs in one of the states, as the job library has them: those that have failed once. */
async function jobsIn({ db }: TestShop, ...states: string[]): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pgboss.job where name = 'mail' and state::text = any(${states})`.execute(db)
  return rows[0]!.n
}

/** Mail jobs that wait or run. */
async function openMails({ db }: TestShop): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from ${openJobs} as j where name = 'mail' and state <> 'failed'`.execute(db)
  return rows[0]!.n
}

const received = ({ mails }: MailServer, count: number) =>
  eventually(
    async () => mails,
    ({ length }) => length >= count,
  )

test('a receipt has the product, the price, the statement descriptor, and the link to the files', async (t) => {
  const server = await startMailServer(t)
  const env = { SMTP_URL: server.url, MAIL_FROM: FROM, APP_URL: 'https://pay.shop.example' }
  const shop = await startTestShop(t, { env })
  const name = 'Töne & <b>Wörter</b>\r\nBcc: eve@example.com'
  const { orderId } = await shop.paid({ productId: await shop.product({ name, priceMinor: 12_345, currency: 'KWD' }) })
  await received(server, 1)
  const { to, mail } = server.mails[0]!
  assert.deepEqual(to, ['bob@example.com'])
  assert.deepEqual(
    mail.to?.map(({ address }) => address),
    ['bob@example.com'],
  )
  assert.deepEqual([mail.from?.name, mail.from?.address], ['Ann’s shop', 'till@shop.example'])
  assert.equal(mail.subject, `Your receipt: ${name.replace(/\r\n/, ' ')}`)
  assert.deepEqual([mail.cc, mail.bcc, mail.attachments], [undefined, undefined, []])
  assert.match(mail.messageId!, /^<[\w-]+@[\w.-]+>$/)
  assert.equal(mail.headers.find(({ key }) => key === 'auto-submitted')?.value, 'auto-generated')

  const url = `https://pay.shop.example/order/?order=${orderId}`
  const { paidAt, statementDescriptor } = (await shop.status(orderId, 'bob@example.com')) as Required<OrderStatus>
  const facts = ['KWD 12.345', statementDescriptor, orderId, timeText(new Date(paidAt!), 'en'), 'Ann', url]
  const plain = mail.text!.replaceAll('\u00a0', ' ')
  const html = mail.html!.replaceAll('\u00a0', ' ')
  for (const fact of facts) assert(plain.includes(fact) && html.includes(fact), fact)
  assert(plain.includes('Töne & <b>Wörter</b>'))
  assert(html.includes('Töne &amp; &lt;b&gt;Wörter&lt;/b&gt;'))
  assert.doesNotMatch(html, /<b>|<script|<img|<link|src=|@import|url\(/i, 'nothing is fetched when it is read')
  const links = Array.from(html.matchAll(/href="([^"]*)"/g), ([, href]) => href!)
  assert.equal(links.pop(), `https://pay.shop.example/withdraw/?order=${orderId}`)
  assert(links.length > 0)
  for (const href of links) assert.match(href, new RegExp(`^${RegExp.escape(url)}#t=[\\w-]{43}$`))
  assert.doesNotMatch(
    mail.text! + mail.html!,
    /api\/downloads|clientSecret|_secret_/,
    'a mail that is passed on opens nothing',
  )
})

test('a mail server that says “later” gets the mail later, once', async (t) => {
  let tries = 0
  const server = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => (tries++ < 2 ? done(says(451, 'greylisted, try again')) : done()),
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url } })
  await shop.paid()
  await deliverUntil(
    shop,
    () => jobsIn(shop, 'completed'),
    (done) => done > 0,
  )
  assert.deepEqual([tries, server.mails.length, await openMails(shop)], [3, 1, 0])
})

test('a mail that the server refuses for good is not sent again, and the purchase is not affected', async (t) => {
  let asked = 0
  const server = await startMailServer(t, {
    onRcptTo({ address }, _session, done) {
      if (address !== 'gone@example.com') return done()
      asked++
      done(says(550, 'no such mailbox'))
    },
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url } })
  const order = await shop.checkout({ email: 'gone@example.com' })
  await shop.confirm(order)
  await eventually(
    () => openMails(shop),
    (open) => open === 0 && asked > 0,
  )
  assert.equal(asked, 1)
  assert.equal((await shop.status(order.orderId, 'gone@example.com')).downloads.length, 1)
  await shop.paid()
  await received(server, 1)
  assert.deepEqual(server.mails[0]!.to, ['bob@example.com'], 'others get theirs')
})

test('only an answer that names a missing mailbox says that the mailbox is not there', async (t) => {
  const missing = ['5.1.1 user unknown', '5.1.2 no such domain', '5.1.6 moved', '5.1.10 null MX', '5.1.1']
  const other = [
    'no such mailbox',
    '5.7.1 blocked by a list',
    '5.2.1 receiving mail at a rate that prevents more',
    '5.2.2 over quota',
    '5.1.8 bad sender',
    '5.1.12 unheard of',
    '5.7.1 see 550 5.1.1',
  ]
  let answer = ''
  const server = await startMailServer(t, { onRcptTo: (_to, _session, done) => done(says(550, answer)) })
  const mailer = smtpMailer(server.url, FROM)
  atEnd(t, () => mailer.close())
  const send = () => mailer('1', { to: 'bob@example.com', subject: 'x', text: 'x', html: 'x' })
  for (answer of [...missing, ...other])
    await assert.rejects(send, (error) => error instanceof MailRefused && error.isMailbox === missing.includes(answer))
})

test('a fault of our settings that the server tells only at the recipient does not drop the mail', async (t) => {
  let answer = ''
  const server = await startMailServer(t, { onRcptTo: (_to, _session, done) => done(says(554, answer)) })
  const mailer = smtpMailer(server.url, FROM)
  atEnd(t, () => mailer.close())
  const send = () => mailer('1', { to: 'bob@example.com', subject: 'x', text: 'x', html: 'x' })
  for (answer of [
    '5.7.1 <bob@example.com>: Relay access denied',
    '5.7.1 <shop@example.com>: Sender address rejected: not owned by user shop',
    '5.7.0 Authentication required',
    '5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://example.com',
    '5.1.90 You have reached the daily limit for message recipients',
    '5.7.1 Your hourly outgoing mail quota is used up',
  ])
    await assert.rejects(send, (error) => !(error instanceof MailRefused))
})

test('mails wait while our password for the mail server is wrong', async (t) => {
  let right = 'the new one'
  const server = await startMailServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) =>
      password === right ? done(null, { user: 'shop' }) : done(says(535, 'wrong password')),
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url.replace('//', '//shop:the%20old%20one@') } })
  await shop.paid()
  await eventually(
    () => jobsIn(shop, 'retry'),
    (waiting) => waiting === 1,
  )
  right = 'the old one'
  await deliverUntil(
    shop,
    () => server.mails,
    ({ length }) => length > 0,
  )
})

test('a mail whose acceptance was lost comes again as the same mail', async (t) => {
  const ids: string[] = []
  const server = await startMailServer(t, {
    onData(stream, _session, done) {
      void parsed(stream).then(({ messageId }) => {
        ids.push(messageId!)
        if (ids.length > 1) return done()
        // all bytes arrived, and the server never confirms it
        for (const connection of connectionsOf(this as unknown as SMTPServer)) connection._socket.destroy()
      })
    },
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url } })
  await shop.paid()
  await deliverUntil(
    shop,
    () => jobsIn(shop, 'completed'),
    (done) => done > 0,
  )
  assert.equal(ids.length, 2)
  assert.equal(ids[0], ids[1])
})

const connectionsOf = (server: SMTPServer) =>
  (server as unknown as { connections: Set<{ _socket: net.Socket }> }).connections

test('a mail server that hangs delays no buyer', async (t) => {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => sockets.add(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as net.AddressInfo
  const shop = await startTestShop(t, { env: { SMTP_URL: `smtp://127.0.0.1:${port}` } })
  const productId = await shop.product()
  // more buyers than mails are sent at once
  await Promise.all(Array.from({ length: 8 }, () => shop.paid({ productId })))
  await eventually(
    async () => sockets.size,
    (size) => size > 0,
  )
  const { orderId } = await shop.paid()
  assert.equal((await shop.status(orderId, 'bob@example.com')).downloads.length, 1)
  assert.equal((await shop.call('GET', '/readyz')).status, 200)
  assert.equal(await openMails(shop), 9, 'and no mail counts as sent')
})

/** A held mail waits for the test, and is not tried again. */
const PATIENT_WITH_MAIL = { smtpMs: 1_800_000, mailMs: 1_800_000 }

/** A mail server that does not answer about mailboxes that begin with `slow`, until the test releases them. */
async function startSlowServer(t: TestContext) {
  const held: (() => void)[] = []
  const server = await startMailServer(t, {
    maxClients: 200,
    onRcptTo: ({ address }, _session, done) => void (address.startsWith('slow') ? held.push(() => done()) : done()),
  })
  const answerAll = () => held.splice(0).forEach((answer) => answer())
  return { server, held, answerAll }
}

test('thirty mailboxes that do not answer delay no other mailbox’s code', async (t) => {
  const { server, held } = await startSlowServer(t)
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url }, deadlines: PATIENT_WITH_MAIL })
  const ask = (email: string) => newBrowser(shop).askCode(email)
  await Promise.all(Array.from({ length: 30 }, (_, n) => ask(`slow${n}@seller.test`)))
  await eventually(
    async () => held.length,
    (count) => count === 30,
  )
  await ask('ann@seller.test')
  await received(server, 1)
  assert.deepEqual([server.mails[0]!.to, held.length], [['ann@seller.test'], 30])
})

test('mailboxes that do not answer delay no other receipt, and receipts delay no code', async (t) => {
  const { server, held, answerAll } = await startSlowServer(t)
  const shop = await startTestShop(t, {
    env: { SMTP_URL: server.url, MAIL_CONNECTIONS: '4' },
    deadlines: PATIENT_WITH_MAIL,
  })
  const productId = await shop.product({ priceMinor: 0 })
  const order = (email: string) => shop.checkout({ productId, email })
  const heldUp = (count: number) =>
    eventually(
      async () => held.length,
      (now) => now === count,
    )
  for (let n = 0; n < 3; n++) await order(`slow${n}@example.com`)
  await heldUp(3)
  for (let n = 0; n < 9; n++) await order(`bob${n}@example.com`)
  await received(server, 9)
  assert.equal(held.length, 3, 'nine went by the one connection that was left')

  await order('slow4@example.com')
  await heldUp(4)
  await order('carol@example.com')
  await newBrowser(shop).askCode('ann@seller.test')
  await received(server, 10)
  assert.deepEqual(server.mails[9]!.to, ['ann@seller.test'], 'codes have connections of their own')
  answerAll()
  await received(server, 15)
  await eventually(
    () => openMails(shop),
    (open) => open === 0,
  )
  assert.equal(new Set(server.mails.map(({ mail }) => mail.messageId)).size, 15, 'and each of them once')
})

test('a connection that ends between two mails loses none, and doubles none', async (t) => {
  let mails = 0
  const server = await startMailServer(t, {
    onData(stream, _session, done) {
      void parsed(stream).then((mail) => {
        server.mails.push({ to: mail.to!.map(({ address }) => address!), mail })
        done()
        // as a server does that keeps connections for a moment only: it ends each after its mail
        mails++
        setImmediate(() => {
          for (const connection of connectionsOf(this as unknown as SMTPServer)) connection._socket.destroy()
        })
      })
    },
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url, MAIL_CONNECTIONS: '1' } })
  const productId = await shop.product({ priceMinor: 0 })
  for (let n = 0; n < 5; n++) await shop.checkout({ productId, email: `bob${n}@example.com` })
  await deliverUntil(
    shop,
    () => openMails(shop),
    (open) => open === 0,
  )
  assert.deepEqual([mails, new Set(server.mails.map(({ mail }) => mail.messageId)).size], [5, 5])
})

/** Far shorter than the time in which one try may send a mail. */
const CONNECT_WITHIN_MS = 1_000

test('a mail server that needs longer for a mail than for a connection delivers one copy', async (t) => {
  const server = await startMailServer(t, {
    onData(stream, { envelope }, done) {
      void parsed(stream).then((mail) => {
        server.mails.push({ to: envelope.rcptTo.map(({ address }) => address), mail })
        // a scanner that works before the server answers the last dot
        setTimeout(done, server.mails.length === 1 ? 2.5 * CONNECT_WITHIN_MS : 0)
      }, done)
    },
  })
  const shop = await startTestShop(t, { env: { SMTP_URL: server.url }, deadlines: { smtpMs: CONNECT_WITHIN_MS } })
  await shop.paid()
  await deliverUntil(
    shop,
    () => openMails(shop),
    (open) => open === 0 && server.mails.length > 0,
  )
  assert.equal(server.mails.length, 1)
})

test('a mail that takes longer than one try may is broken off, and its connection too', async (t) => {
  let isSilent = true
  const server = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => (isSilent ? undefined : done()),
  })
  const mailer = smtpMailer(server.url, FROM, { connections: 1, mailMs: CONNECT_WITHIN_MS })
  atEnd(t, () => mailer.close())
  const send = () => mailer('1', { to: 'bob@example.com', subject: 'x', text: 'x', html: 'x' })
  await assert.rejects(send, (error) => !(error instanceof MailRefused))
  isSilent = false
  await eventually(
    () => send().catch(() => {}),
    () => server.mails.length > 0,
  )
})

/** From now on another server answers at a port. */
async function forward(t: TestContext, from: number, to: number): Promise<void> {
  const door = net.createServer((socket) => {
    const inner = net.connect(to, '127.0.0.1')
    socket.on('error', () => inner.destroy()).pipe(inner)
    inner.on('error', () => socket.destroy()).pipe(socket)
  })
  door.listen(from, '127.0.0.1')
  await once(door, 'listening')
  atEnd(t, () => void door.close())
}

test('after an outage of the mail server every mail goes out', async (t) => {
  const port = await quietPort()
  const shop = await startTestShop(t, { env: { SMTP_URL: `smtp://127.0.0.1:${port}` } })
  await shop.paid()
  await eventually(
    () => jobsIn(shop, 'retry'),
    (waiting) => waiting === 1,
  )
  const { rows } = await sql<{ limit: number; days: number }>`
    select retry_limit as limit, extract(epoch from keep_until - created_on)::int / 86400 as days
    from pgboss.job where name = 'mail'`.execute(shop.db)
  assert(rows[0]!.limit >= 20 && rows[0]!.days >= 3, 'a weekend is not too long')
  const server = await startMailServer(t)
  await forward(t, port, Number(new URL(server.url).port))
  await deliverUntil(
    shop,
    () => server.mails.length,
    (count) => count > 0,
  )
  assert.deepEqual(
    server.mails.map(({ to }) => to),
    [['bob@example.com']],
  )
})

test('a text with two addresses reaches no second mailbox', async (t) => {
  const server = await startMailServer(t)
  const send = smtpMailer(server.url, FROM)
  const mail = { subject: 'x', text: 'x', html: 'x' }
  for (const to of [
    'bob@example.com, eve@example.com',
    'bob@example.com>, <eve@example.com',
    'bob@example.com\r\nRCPT TO:<eve@example.com>',
  ]) {
    await send('1', { to, ...mail }).catch(() => {})
  }
  await send('2', { to: 'last@example.com', ...mail })
  const reached = server.mails.flatMap(({ to }) => to)
  assert.equal(reached.at(-1), 'last@example.com')
  assert(!reached.includes('eve@example.com'), String(reached))
})

test('a job that runs twice leaves one mail', async () => {
  const { db, call } = shared()
  const send = outboxMailer(db)
  const id = '00000000-0000-4000-8000-000000000001'
  const mail = { to: 'twice@example.com', subject: 'first', text: 'x', html: 'x' }
  await Promise.all([send(id, mail), send(id, mail)])
  await send(id, { ...mail, subject: 'second' })
  const { body } = await call('GET', '/api/outbox?to=twice@example.com')
  assert.deepEqual(
    body.map(({ subject }: { subject: string }) => subject),
    ['first'],
  )
})

test('the outbox shows the newest mail first, for one address or for all', async () => {
  const shop = shared()
  const send = outboxMailer(shop.db)
  for (const at of [1, 2, 3])
    await send(`00000000-0000-4000-8000-00000000010${at}`, { to: `box${at % 2}@example.com`, subject: `mail ${at}`, text: 't', html: '<p>t' }) // oxfmt-ignore
  const of = async (query: string) => (await shop.call('GET', `/api/outbox${query}`)).body
  const subjects = async (query: string) => (await of(query)).map(({ subject }: { subject: string }) => subject)
  assert.deepEqual(await subjects('?to=box1@example.com'), ['mail 3', 'mail 1'])
  assert.deepEqual(await subjects('?to=%20BOX0@Example.com%20'), ['mail 2'])
  assert.deepEqual(await subjects('?to=nobody@example.com'), [])
  const all = await subjects('')
  assert(all.indexOf('mail 3') < all.indexOf('mail 2') && all.indexOf('mail 2') < all.indexOf('mail 1'))
  const [mail] = await of('?to=box0@example.com')
  assert.deepEqual(Object.keys(mail).sort(), ['html', 'id', 'sentAt', 'subject', 'text', 'to'])
  assert.match(mail.sentAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('a buyer gets a mail about a refund, a refund of a part, and a dispute', async () => {
  const shop = shared()
  const email = 'told@example.com'
  const order = await shop.checkout({ email })
  await shop.confirm(order)
  const mailed = (subject: string) =>
    eventually(
      () => shop.mails(email),
      (mails) => mails[0]?.subject === subject,
    ).then((mails) => mails[0]!)
  await mailed('Your receipt: A book')
  const refund = (amount: number) =>
    shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, amount })
  await refund(900)
  const part = await mailed('Your refund: A book')
  assert.match(part.text, /\$9\.00 of \$19\.00/)
  await shop.call('POST', '/api/sandbox/dispute', { clientSecret: order.clientSecret, outcome: 'open' })
  const disputed = await mailed('About your payment: A book')
  assert.match(disputed.text, /TILL\* A BOOK/)
  for (const { text, html } of [part, disputed]) assert(text.includes(order.orderId) && html.includes(order.orderId))
})

test('a receipt that is sent late, when the files are the buyer’s no more, does not say that they are ready', async () => {
  const shop = shared()
  const email = 'delayed@example.com'
  const order = await shop.checkout({ email })
  await shop.confirm(order)
  const mailed = (subject: string, count: number) =>
    eventually(
      () => shop.mails(email),
      (mails) => mails.length === count && mails[0]!.subject === subject,
    ).then((mails) => mails[0]!)
  assert.match((await mailed('Your receipt: A book', 1)).text, /Your files are ready/)
  await shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret })
  await mailed('Your refund: A book', 2)
  // as if the mail server had been away since the payment
  await sql`
    insert into pgboss.job (name, data)
    values ('mail', jsonb_build_object('kind', 'receipt', 'orderId', ${order.orderId}::text))`.execute(shop.db)
  await sql`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'mail')`.execute(shop.db)
  const { text, html } = await mailed('Your receipt: A book', 3)
  for (const told of [text, html]) {
    assert.doesNotMatch(told, /files are ready|Open my files|opens your files/)
    assert.match(told, /files cannot be downloaded now/)
    assert(told.includes('$19.00') && told.includes(order.orderId))
  }
})

test('neither a password nor a code is sent to a server without TLS, unless the setting says so', async (t) => {
  const said: string[] = []
  const server = await startMailServer(t, {
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) => (said.push(String(password)), done(null, { user: 'shop' })),
    onMailFrom: (_address, _session, done) => (said.push('MAIL FROM'), done()),
  })
  // the same server by an address that is not of this machine alone
  const address = server.url.replace('smtp://127.0.0.1', 'smtp://shop:its-password@0.0.0.0')
  const mail = { to: 'bob@example.com', subject: 'A code', text: '123456', html: '<p>123456</p>' }
  await assert.rejects(smtpMailer(address, FROM)('one', mail), { code: 'ETLS' })
  assert.deepEqual(said, [])
  await smtpMailer(`${address}?tls=none`, FROM)('two', mail)
  assert.deepEqual([said, server.mails.length], [['its-password', 'MAIL FROM'], 1])
  await smtpMailer(server.url, FROM)('three', mail)
  assert.equal(server.mails.length, 2, 'on this machine there is no one in between')
})
