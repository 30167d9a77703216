import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { codeOf as mailedCodeOf } from '../src/buyers/email-changes.ts'
import { newId } from '../src/kit/ids.ts'
import { codeOf } from '../src/sellers/codes.ts'
import { ensureSeller } from '../src/sellers/sellers.ts'
import { codeRow } from './codes.ts'
import { type MailServer, says, startMailServer } from './mail-server.ts'
import { times } from './processor.ts'
import { type Browser, newBrowser, newMailbox, wrongCode } from './seller.ts'
import { type Answer, SECRET, type TestShop, assertProblem, eventually, startTestShop } from './shop.ts'

const ends: (() => unknown)[] = []
let shop: TestShop
let server: MailServer
let ann: Browser
/** Mailboxes that the mail server says are not there. */
const gone = new Set<string>()

before(async () => {
  const later = { after: (end: () => unknown) => void ends.push(end) }
  server = await startMailServer(later, {
    onRcptTo: ({ address }, _session, done) => (gone.has(address) ? done(says(550, 'no such mailbox')) : done()),
  })
  shop = await startTestShop(later, { env: { SMTP_URL: server.url } })
  ann = await signIn('ann@shop.test')
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

async function signIn(email: string): Promise<Browser> {
  const browser = newBrowser(shop)
  await browser.askCode(email)
  assert.equal((await browser.tryCode(email, codeOf(SECRET, (await codeRow(shop, email))!.id))).status, 200)
  return browser
}

const mailsTo = (email: string) =>
  server.mails
    .filter(({ to }) => to.includes(email))
    .map(({ mail: { subject = '', text = '' } }) => ({ subject, text }))
const mailTo = (email: string, subject: RegExp) =>
  eventually(
    async () => mailsTo(email).find((mail) => subject.test(mail.subject)),
    (mail) => mail !== undefined,
  )

async function paidOrder(email: string): Promise<string> {
  const order = await shop.checkout({ email })
  await shop.confirm(order)
  await eventually(
    () => shop.status(order.orderId, email),
    ({ paid }) => paid,
  )
  return order.orderId
}

const ask = (orderId: string, email: unknown, browser = ann) =>
  browser.call('POST', `/api/orders/${orderId}/email`, { email })
const confirm = (orderId: string, email: unknown, code: unknown): Promise<Answer> =>
  newBrowser(shop).call('POST', `/api/checkout/${orderId}/email`, { email, code })
const detail = async (orderId: string) => (await ann.call('GET', `/api/orders/${orderId}`)).body

/** The digits that are waited for, whether their mail is there or not. */
async function codeFor(orderId: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from email_changes where order_id = ${orderId}`.execute(shop.db)
  return mailedCodeOf(SECRET, rows[0]!.id)
}

test('a receipt that the mail server refuses is noted, and told to both, until one is taken', async () => {
  const email = newMailbox()
  gone.add(email)
  const orderId = await paidOrder(email)
  await eventually(
    () => detail(orderId),
    ({ receipt }) => receipt === 'bounced',
  )
  assert.equal((await shop.status(orderId, email)).receiptBounced, true)
  assert.equal('receiptBounced' in (await shop.status(orderId)), false, 'nobody else is told')
  const waiting = async () =>
    (await ann.call('GET', '/api/attention')).body.items.filter((item: any) => item.orderId === orderId)
  assert.deepEqual(
    (await waiting()).map(({ what, email: address }: any) => [what, address]),
    [['receipt_bounced', email]],
  )
  gone.delete(email)
  await ann.call('POST', `/api/orders/${orderId}/receipt`)
  await eventually(
    () => detail(orderId),
    ({ receipt }) => receipt === 'sent',
  )
  assert.deepEqual(await waiting(), [])
  assert.equal('receiptBounced' in (await shop.status(orderId, email)), false)
})

test('an address is put right by whoever reads the new mailbox, and the order opens with that one alone', async () => {
  const [old, right] = [newMailbox(), newMailbox()]
  gone.add(old)
  const orderId = await paidOrder(old)
  await eventually(
    () => detail(orderId),
    ({ receipt }) => receipt === 'bounced',
  )
  gone.delete(old)
  const linkOf = async (email: string) => new URL((await shop.status(orderId, email)).downloads[0]!.url).pathname
  const link = await linkOf(old)
  const asked = await ask(orderId, ` ${right.toUpperCase()} `)
  assert.deepEqual([asked.status, asked.body], [202, { email: right }])
  assert.equal((await detail(orderId)).pendingEmail, right)
  assert.equal((await shop.status(orderId, old)).downloads.length, 1, 'nothing changes before it is confirmed')
  const code = await codeFor(orderId)
  const mail = (await mailTo(right, /^\d{6} is your code/))!
  assert(mail.subject.startsWith(`${code} `) && mail.text.includes(`http://shop.test/order/?order=${orderId}#email`))

  const confirmed = await confirm(orderId, right, `${code.slice(0, 3)} ${code.slice(3)}`)
  assert.deepEqual([confirmed.status, confirmed.body], [200, {}])
  assert.equal((await shop.status(orderId, right)).downloads.length, 1)
  assert.equal((await shop.status(orderId, old)).downloads.length, 0)
  assert.equal((await shop.call('GET', await linkOf(right))).status, 200)
  // the old address had its link for some time
  await sql`update orders set email_changed_at = email_changed_at + interval '1 second' where id = ${orderId}`.execute(
    shop.db,
  )
  assertProblem(await shop.call('GET', link), 403, 'download_link_expired')

  const told = (await mailTo(old, /another address/))!
  assert(!told.text.includes(right), 'should the old one be a stranger’s, it is not told the new one')
  await mailTo(right, /^Your receipt for/)
  const { email, receipt, pendingEmail, timeline } = await detail(orderId)
  assert.deepEqual([email, receipt, pendingEmail], [right, 'sent', undefined])
  assert.equal(timeline.at(-1).what, 'email_changed')
  assertProblem(await confirm(orderId, right, code), 401, 'invalid_code')
})

test('wrong bodies, other sellers, orders that are not paid, and the address it has, are refused', async () => {
  const email = newMailbox()
  const orderId = await paidOrder(email)
  for (const bad of [undefined, null, 7, '', 'bob', 'a@b', 'a@b.c, d@e.f', 'ü@example.com', `${'x'.repeat(250)}@b.cd`])
    assertProblem(await ask(orderId, bad), 400, 'validation_failed')
  assertProblem(await ask(orderId, email.toUpperCase()), 400, 'validation_failed')
  assertProblem(await ask('ord_x', newMailbox()), 400, 'validation_failed')
  assertProblem(await ask(newId('ord'), newMailbox()), 404, 'order_not_found')
  const other = newMailbox()
  await ensureSeller(shop.db, { name: 'Eve', email: other })
  assertProblem(await ask(orderId, newMailbox(), await signIn(other)), 404, 'order_not_found')
  assertProblem(await ask((await shop.checkout()).orderId, newMailbox()), 409, 'order_not_paid')
  for (const code of [undefined, '', '12345', '1234567', 'abcdef', 123456, null, '１２３４５６'])
    assertProblem(await confirm(orderId, newMailbox(), code), 400, 'validation_failed')
  assertProblem(
    await shop.call(
      'POST',
      `/api/checkout/${orderId}/email`,
      { email, code: '123456' },
      { origin: 'https://evil.test' },
    ),
    403,
    'origin_not_allowed',
  )
  assert.equal((await detail(orderId)).pendingEmail, undefined)
})

test('nobody learns from a wrong code whether an order, or a change of it, is there', async () => {
  const [old, right] = [newMailbox(), newMailbox()]
  const orderId = await paidOrder(old)
  const none = await confirm(orderId, right, '123456')
  await ask(orderId, right)
  const code = await codeFor(orderId)
  const said = ({ body: { requestId: _, ...body }, status }: Answer) => ({ status, ...body })
  for (const answer of [
    await confirm(newId('ord'), right, code),
    await confirm(orderId, old, code),
    await confirm(orderId, newMailbox(), code),
    await confirm(orderId, right, wrongCode(code)),
  ])
    assert.deepEqual(said(answer), said(none))
  assert.equal((await confirm(orderId, right, code)).status, 200)
})

test('five wrong codes burn it, however many at once; a newer one is good, and ends those before it', async () => {
  const [old, right] = [newMailbox(), newMailbox()]
  const orderId = await paidOrder(old)
  await ask(orderId, right)
  const burnt = await codeFor(orderId)
  await times(8, () => confirm(orderId, right, wrongCode(burnt)))
  const { rows } = await sql<{ tries: number }>`
    select wrong_tries as tries from email_changes where order_id = ${orderId}`.execute(shop.db)
  assert.equal(rows[0]!.tries, 5)
  assertProblem(await confirm(orderId, right, burnt), 401, 'invalid_code')
  const second = newMailbox()
  await ask(orderId, second)
  const replaced = await codeFor(orderId)
  await ask(orderId, right)
  assertProblem(await confirm(orderId, second, replaced), 401, 'invalid_code')
  const code = await codeFor(orderId)
  await sql`update email_changes set expires_at = now() where order_id = ${orderId}`.execute(shop.db)
  assertProblem(await confirm(orderId, right, code), 401, 'invalid_code')
  assert.equal((await detail(orderId)).pendingEmail, undefined)
  assert.equal((await shop.status(orderId, old)).downloads.length, 1)
})

test('the right code at ten places at once moves the order once, and tells each mailbox once', async () => {
  const [old, right] = [newMailbox(), newMailbox()]
  const orderId = await paidOrder(old)
  await ask(orderId, right)
  const code = await codeFor(orderId)
  const answers = await times(10, () => confirm(orderId, right, code))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 401)])
  await mailTo(right, /receipt/)
  await mailTo(old, /another address/)
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pgboss.job where name = 'mail' and data->>'orderId' = ${orderId}`.execute(shop.db)
  assert.equal(rows[0]!.n, 3, 'the first receipt, the news for the old address, the receipt for the new one')
})

test('a new address that the mail server refuses is not waited for', async () => {
  const [old, right] = [newMailbox(), newMailbox()]
  gone.add(right)
  const orderId = await paidOrder(old)
  assert.equal((await ask(orderId, right)).status, 202)
  await eventually(
    () => detail(orderId),
    ({ pendingEmail }) => pendingEmail === undefined,
  )
  assert.equal((await shop.status(orderId, old)).downloads.length, 1)
})

test('codes are limited for each order and each seller, and wrong ones for each network', async (t) => {
  const limited = await startTestShop(t, {
    databaseUrl: shop.databaseUrl,
    env: { SMTP_URL: server.url, LIMITS: 'code=2/900,code_address=4/3600,code_try=3/3600' },
  })
  const eve = newMailbox()
  const sellerId = await ensureSeller(shop.db, { name: 'Eve', email: eve })
  const browser = (await signIn(eve)).through(limited)
  const [first, second, third] = await times(3, async () => {
    const { orderId } = await shop.checkout({ productId: await shop.product({ sellerId }), email: newMailbox() })
    await sql`update orders set state = 'paid', paid_at = now() where id = ${orderId}`.execute(shop.db)
    return orderId
  })
  for (let time = 0; time < 2; time++) assert.equal((await ask(first!, newMailbox(), browser)).status, 202)
  assertProblem(await ask(first!, newMailbox(), browser), 429, 'rate_limited')
  assert.equal((await ask(second!, newMailbox(), browser)).status, 202)
  assertProblem(await ask(third!, newMailbox(), browser), 429, 'rate_limited')
  const guess = () => limited.call('POST', `/api/checkout/${newId('ord')}/email`, { email: eve, code: '123456' })
  for (let time = 0; time < 3; time++) assertProblem(await guess(), 401, 'invalid_code')
  assertProblem(await guess(), 429, 'rate_limited')
})
