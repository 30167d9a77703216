import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { codeQueue } from '../../src/buyers/email-changes.ts'
import { CONSENT, codeOf as mailedCodeOf } from '../../src/buyers/email-changes.ts'
import { finishMoves, moveSigner, moveToken, sweepEmailChanges } from '../../src/buyers/order-moves.ts'
import { inTransaction } from '../../src/kit/database.ts'
import { newId } from '../../src/kit/ids.ts'
import { type Jobs, startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import { hashOf } from '../../src/kit/tokens.ts'
import { codeOf } from '../../src/sellers/codes.ts'
import { ensureSeller } from '../../src/sellers/sellers.ts'
import { recordJobs } from '../support/jobs.ts'
import { codeRow } from '../support/codes.ts'
import { type MailServer, deliverUntil, parsed, says, startMailServer } from '../stand-ins/mail-server.ts'
import { times } from '../stand-ins/processor.ts'
import { type Browser, newBrowser, newMailbox, wrongCode } from '../support/seller.ts'
import { type Answer, SECRET, type TestShop, assertProblem, eventually, startTestShop } from '../support/shop.ts'
import { timeText } from '../../src/words/say.ts'

const ends: (() => unknown)[] = []
let shop: TestShop
let server: MailServer
let ann: Browser
let jobs: Jobs
/** Mailboxes by the mail server's answer: there is none, its mail looks like spam, it cannot be reached now, it is full. */
const gone = new Set<string>()
const picky = new Set<string>()
const away = new Set<string>()
const full = new Set<string>()

before(async () => {
  const later = { after: (end: () => unknown) => void ends.push(end) }
  server = await startMailServer(later, {
    onData(stream, { envelope }, done) {
      void parsed(stream).then((mail) => {
        const to = envelope.rcptTo.map(({ address }) => address)
        if (to.some((address) => picky.has(address))) return done(says(550, 'this looks like spam'))
        server.mails.push({ to, mail })
        done()
      }, done)
    },
    onRcptTo({ address }, _session, done) {
      if (away.has(address)) return done(says(451, 'try again later'))
      if (full.has(address)) return done(says(552, '5.2.2 mailbox full'))
      return gone.has(address) ? done(says(550, '5.1.1 no such mailbox')) : done()
    },
  })
  shop = await startTestShop(later, { env: { SMTP_URL: server.url }, deadlines: { smtpMs: 60_000 } })
  ann = await signIn('ann@shop.test')
  jobs = await startJobs({ connectionString: shop.databaseUrl }, newLog('silent'))
  ends.push(() => jobs.stop())
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

async function ask(orderId: string, email: unknown, browser = ann): Promise<Answer> {
  // the sign-in of the beginning is long ago on a slow machine
  if (browser === ann) await sql`update sessions set created_at = now() where created_at < now()`.execute(shop.db)
  return browser.call('POST', `/api/orders/${orderId}/email`, { email })
}
const confirm = (orderId: string, email: unknown, code: unknown): Promise<Answer> =>
  newBrowser(shop).call('POST', `/api/checkout/${orderId}/email`, { email, code })
const detail = async (orderId: string) => (await ann.call('GET', `/api/orders/${orderId}`)).body

/** The digits that are waited for, whether their mail is there or not. */
async function codeFor(orderId: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from email_changes where order_id = ${orderId}`.execute(shop.db)
  return mailedCodeOf(SECRET, rows[0]!.id)
}

test('a receipt that the mail server refuses is noted, and buyer and seller see it until one is accepted', async () => {
  const email = newMailbox()
  gone.add(email)
  const orderId = await paidOrder(email)
  await eventually(
    () => detail(orderId),
    ({ receipt }) => receipt === 'bounced',
  )
  assert.equal((await shop.status(orderId, email)).receiptBounced, true)
  assert.equal('receiptBounced' in (await shop.status(orderId)), false, 'no other mailbox gets a mail')
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

test('the reader of the new mailbox corrects the address, and the order opens only with that one', async () => {
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
  assert.deepEqual([confirmed.status, confirmed.body], [200, { moved: true, needsConsent: false }])
  assert.equal((await shop.status(orderId, right)).downloads.length, 1)
  assert.equal((await shop.status(orderId, old)).downloads.length, 0)
  assert.equal((await shop.call('GET', await linkOf(right))).status, 200)
  // the old address had its link for some time
  await sql`update orders set email_changed_at = email_changed_at + interval '1 second' where id = ${orderId}`.execute(
    shop.db,
  )
  assertProblem(await shop.call('GET', link), 403, 'download_link_expired')

  const told = (await mailTo(old, /another address/))!
  assert(!told.text.includes(right), 'the old mailbox, which may be a stranger’s, does not learn the new one')
  await mailTo(right, /^Your receipt/)
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
  assertProblem(await ask('ord_x', newMailbox()), 404, 'order_not_found')
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

test('a wrong code does not reveal whether an order, or a change of it, exists', async () => {
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

test('five wrong codes end a code, however many come at once; a newer one works, and ends earlier ones', async () => {
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

test('the right code at ten places at once moves the order once, and mails each mailbox once', async () => {
  await recordJobs(shop.db)
  const [old, right] = [newMailbox(), newMailbox()]
  gone.add(old)
  const orderId = await paidOrder(old)
  await eventually(
    () => detail(orderId),
    ({ receipt }) => receipt === 'bounced',
  )
  gone.delete(old)
  await ask(orderId, right)
  const code = await codeFor(orderId)
  const answers = await times(10, () => confirm(orderId, right, code))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 401)])
  await mailTo(right, /receipt/)
  await mailTo(old, /another address/)
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from added_jobs where queue = 'mail' and data->>'orderId' = ${orderId}`.execute(shop.db)
  assert.equal(rows[0]!.n, 3, 'the first receipt, the news for the old address, the receipt for the new one')
})

test('a change to a new address that the mail server refuses ends', async () => {
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

const QUESTION = /^Does your order stay at this address/
const MOVED = /another address/

/** A move that the new mailbox has confirmed, and the content of the mail to the old one. */
async function confirmedMove(): Promise<{
  orderId: string
  old: string
  right: string
  token: string
  code: string
  answer: any
}> {
  const [old, right] = [newMailbox(), newMailbox()]
  const orderId = await paidOrder(old)
  return { orderId, old, right, ...(await confirmAgain(orderId, old, right)) }
}
async function confirmAgain(orderId: string, old: string, right: string) {
  await ask(orderId, right)
  const before = mailsTo(old).length
  const { status, body: answer } = await confirm(orderId, right, await codeFor(orderId))
  assert.equal(status, 200)
  const mail = await eventually(
    async () =>
      mailsTo(old)
        .slice(before)
        .find(({ subject }) => QUESTION.test(subject)),
    (one) => one !== undefined,
  )
  const [, token] = /#keep=([\w.-]+)/.exec(mail!.text)!
  const [, code] = /\b(\d{6})\b/.exec(mail!.text)!
  return { token: token!, code: code!, answer }
}
const keep = (orderId: string, token: string) => shop.call('POST', `/api/checkout/${orderId}/email/keep`, { token })
const consent = (orderId: string, token: string, code: string) =>
  shop.call('POST', `/api/checkout/${orderId}/email/consent`, { token, code })
const opens = async (orderId: string, email: string) => (await shop.status(orderId, email)).downloads.length > 0
const timeIsOver = (orderId: string) =>
  sql`update email_changes set moves_at = now() - interval '1 second' where order_id = ${orderId} and moves_at is not null`.execute(shop.db) // oxfmt-ignore
/** When the order moves by itself: known once the mail server has taken the question to the old mailbox. */
const moveOf = async (orderId: string) => (await detail(orderId)).emailMove
const asked = (orderId: string) =>
  eventually(
    () => moveOf(orderId),
    (move) => move?.movesAt != null,
  )
const finish = () => times(2, () => finishMoves(shop.db, jobs))

test('an order whose old mailbox is there moves after three days, and until then both addresses open it', async () => {
  const { orderId, old, right, answer } = await confirmedMove()
  assert.deepEqual(answer, { moved: false, needsConsent: false })
  await asked(orderId)
  const { rows } = await sql<{ days: number }>`
    select extract(epoch from moves_at - confirmed_at)::float / 86400 as days
    from email_changes where order_id = ${orderId}`.execute(shop.db)
  assert(rows[0]!.days >= 3 && rows[0]!.days < 3.1, String(rows[0]!.days))
  const link = new URL((await shop.status(orderId, old)).downloads[0]!.url).pathname
  const both = async () => [await opens(orderId, old), await opens(orderId, right)]
  await finish()
  assert.deepEqual(await both(), [true, true])
  assert.equal(await opens(orderId, newMailbox()), false)
  assert.equal((await shop.call('GET', link)).status, 200)
  const { email, pendingEmail, emailMove } = await detail(orderId)
  assert.deepEqual([email, pendingEmail, emailMove.needsConsent], [old, right, false])
  await mailTo(right, /receipt/)
  assert(
    mailsTo(old).every(({ subject, text }) => !MOVED.test(subject) && !text.includes(right)),
    'the new one is not named',
  )

  const question = mailsTo(old).find(({ subject }) => QUESTION.test(subject))!
  assert(question.text.includes(timeText(new Date(emailMove.movesAt), 'en')), 'the mail names the time that counts')
  await timeIsOver(orderId)
  await finish()
  assert.deepEqual(await both(), [false, true])
  await mailTo(old, MOVED)
  await finish()
  assert.equal(mailsTo(old).filter(({ subject }) => MOVED.test(subject)).length, 1)
  assert.deepEqual([(await detail(orderId)).email, (await detail(orderId)).emailMove], [right, undefined])
})

test('the old mailbox keeps its order by one press, and from then on only its consent moves it', async () => {
  const { orderId, old, right, token } = await confirmedMove()
  const other = await confirmedMove()
  for (const wrong of [
    other.token,
    `${token.slice(0, -2)}xx`,
    token.replace(/^./, (one) => (one === 'a' ? 'b' : 'a')),
    'ab',
  ])
    assertProblem(await keep(orderId, wrong), 410, 'email_change_over')
  for (let time = 0; time < 2; time++) assert.deepEqual((await keep(orderId, token)).body, {})
  assert.deepEqual([await opens(orderId, old), await opens(orderId, right)], [true, false])
  assert.equal((await detail(orderId)).pendingEmail, undefined)
  await sweepEmailChanges(shop.db)

  // after a repeated request the days do not run out
  const again = await confirmAgain(orderId, old, right)
  assert.deepEqual(again.answer, { moved: false, needsConsent: true })
  assert.equal(again.token, token, 'the link is the mailbox’s, and not the change’s')
  await timeIsOver(orderId)
  await finish()
  assert.equal((await detail(orderId)).email, old)
  assert.equal((await consent(orderId, again.token, again.code)).status, 200)
  assert.deepEqual([await opens(orderId, old), await opens(orderId, right)], [false, true])
  assertProblem(await keep(orderId, again.token), 410, 'email_change_over')
})

test('a seller’s further request does not end the link to keep the order, confirmed or not', async () => {
  const { orderId, old, right, token } = await confirmedMove()
  await ask(orderId, right)
  assert.equal((await keep(orderId, token)).status, 200)
  assert.equal((await detail(orderId)).pendingEmail, undefined)
  const again = await confirmAgain(orderId, old, right)
  assert.equal(again.answer.needsConsent, true)
  // the mail of the change before it keeps the order too, and so does one whose change was forgotten
  assert.equal((await keep(orderId, token)).status, 200)
  assert.deepEqual([await opens(orderId, old), await opens(orderId, right)], [true, false])
  const third = await confirmedMove()
  await sql`update email_changes set expires_at = now() - interval '1 second' where order_id = ${third.orderId}`.execute(
    shop.db,
  )
  await sweepEmailChanges(shop.db)
  assert.equal((await keep(third.orderId, third.token)).status, 200)
  assert.equal((await confirmAgain(third.orderId, third.old, third.right)).answer.needsConsent, true)
})

test('the new mailbox can keep an order that has moved', async () => {
  const { orderId, old, right, token, code } = await confirmedMove()
  await keep(orderId, token)
  const again = await confirmAgain(orderId, old, right)
  assertProblem(await consent(orderId, again.token, wrongCode(again.code)), 401, 'invalid_code')
  if (code !== again.code) assertProblem(await consent(orderId, token, code), 401, 'invalid_code')
  assert.equal((await consent(orderId, token, again.code)).status, 200)
  assertProblem(await keep(orderId, token), 410, 'email_change_over')
  const back = await confirmAgain(orderId, right, old)
  assert.equal(back.answer.needsConsent, false, 'the one before has kept it, and this one has not')
})

test('the old mailbox consents by its code: five wrong ones burn it, the new mailbox’s own is none', async () => {
  const { orderId, old, right, token, code } = await confirmedMove()
  const theirs = await codeFor(orderId)
  if (theirs !== code) assertProblem(await consent(orderId, token, theirs), 401, 'invalid_code')
  assertProblem(await confirm(orderId, old, code), 401, 'invalid_code')
  for (let time = 0; time < 4; time++)
    assertProblem(await consent(orderId, token, wrongCode(code)), 401, 'invalid_code')
  const other = await confirmedMove()
  assert.equal((await consent(other.orderId, other.token, other.code)).status, 200)
  assertProblem(await consent(orderId, token, wrongCode(code)), 401, 'invalid_code')
  assertProblem(await consent(orderId, token, code), 401, 'invalid_code')
  assert.deepEqual([await opens(orderId, old), await opens(orderId, right)], [true, true])
})

test('a session that is not fresh moves no order', async () => {
  const orderId = await paidOrder(newMailbox())
  const stolen = await signIn('ann@shop.test')
  await sql`
    update sessions set created_at = now() - interval '11 minutes'
    where token_hash = ${hashOf(stolen.jar.value('till_session')!)}`.execute(shop.db)
  assertProblem(await ask(orderId, newMailbox(), stolen), 403, 'recent_sign_in_required')
  assert.equal((await detail(orderId)).pendingEmail, undefined)
})

test('a receipt that was refused for its words moves nothing at once; a mailbox that is not there does', async () => {
  const [old, right] = [newMailbox(), newMailbox()]
  picky.add(old)
  const orderId = await paidOrder(old)
  await eventually(
    () => detail(orderId),
    ({ receipt }) => receipt === 'bounced',
  )
  await ask(orderId, right)
  assert.equal((await confirm(orderId, right, await codeFor(orderId))).body.moved, false)
  assert.equal(await opens(orderId, old), true)
  // the mail server accepted the receipt, and answers the question with "no such mailbox"
  const [silent, better] = [newMailbox(), newMailbox()]
  const other = await paidOrder(silent)
  await mailTo(silent, /receipt/)
  gone.add(silent)
  await ask(other, better)
  assert.equal((await confirm(other, better, await codeFor(other))).body.moved, false)
  await eventually(
    async () => {
      await finish()
      return (await detail(other)).email
    },
    (email) => email === better,
  )
  assert.equal((await detail(orderId)).email, old)
})

test('a mailbox that is full, and one that bounced before reasons were known, lose no order at once', async () => {
  for (const trouble of [full, new Set<string>()]) {
    const [old, right] = [newMailbox(), newMailbox()]
    trouble.add(old)
    const orderId = await paidOrder(old)
    if (trouble === full)
      await eventually(
        () => detail(orderId),
        ({ receipt }) => receipt === 'bounced',
      )
    else await bouncedBefore030(orderId)
    await ask(orderId, right)
    assert.equal((await confirm(orderId, right, await codeFor(orderId))).body.moved, false)
    await finish()
    assert.equal((await detail(orderId)).email, old)
  }
})

/** The order as an older program left it when its receipt was refused, and the migration after it. */
async function bouncedBefore030(orderId: string): Promise<void> {
  const migration = await readFile(new URL('../../schema/030_order_moves.sql', import.meta.url), 'utf8')
  const about = /^-- The mail server said that the mailbox[^]*/m.exec(migration)![0]
  await mailTo((await detail(orderId)).email, /receipt/)
  await inTransaction(shop.db, async (tx) => {
    await sql`alter table orders drop column mailbox_refused_at, drop column address_kept_at`.execute(tx)
    await sql`update orders set receipt_bounced_at = now() where id = ${orderId}`.execute(tx)
    await sql.raw(about).execute(tx)
  })
}

/** A confirmed move whose question has not come through: the old mailbox's receipt did. */
async function confirmedUnasked(trouble: Set<string>) {
  const [old, right] = [newMailbox(), newMailbox()]
  const orderId = await paidOrder(old)
  await mailTo(old, /receipt/)
  trouble.add(old)
  await ask(orderId, right)
  const { body } = await confirm(orderId, right, await codeFor(orderId))
  assert.deepEqual(body, { moved: false, needsConsent: false })
  return { orderId, old, right }
}
const questionJob = async (orderId: string): Promise<{ state: string; tries: number } | undefined> => {
  const { rows } = await sql<{ state: string; tries: number }>`
    select j.state::text, j.retry_count as tries from pgboss.job j join email_changes c on j.data->>'id' = c.id::text
    where j.name like 'email_consent%' and c.order_id = ${orderId}`.execute(shop.db)
  return rows[0]
}

test('the three days begin when the mail server has accepted the question, after any outage', async () => {
  const { orderId, old, right } = await confirmedUnasked(away)
  await eventually(
    () => questionJob(orderId),
    (job) => job?.state === 'retry',
  )
  assert.deepEqual(await moveOf(orderId), { movesAt: null, needsConsent: false })
  await timeIsOver(orderId)
  await finish()
  assert.equal((await detail(orderId)).email, old, 'an old mailbox that was not asked loses nothing')
  away.delete(old)
  const { movesAt } = await deliverUntil(
    shop,
    () => moveOf(orderId),
    (move) => move?.movesAt != null,
  )
  assert(mailsTo(old).some(({ subject }) => QUESTION.test(subject)))
  await finish()
  assert.deepEqual([(await detail(orderId)).email, (await moveOf(orderId)).movesAt], [old, movesAt])
  await timeIsOver(orderId)
  await finish()
  assert.equal((await detail(orderId)).email, right)
})

test('an order whose old mailbox refuses the question’s content does not move without consent', async () => {
  const { orderId, old, right } = await confirmedUnasked(picky)
  await eventually(
    () => questionJob(orderId),
    (job) => job?.state === 'completed' || job?.state === 'failed',
  )
  await timeIsOver(orderId)
  await finish()
  assert.deepEqual(
    [(await detail(orderId)).email, await moveOf(orderId)],
    [old, { movesAt: null, needsConsent: false }],
  )
  assert.deepEqual([await opens(orderId, old), await opens(orderId, right)], [true, true])
  const id = (await sql<{ id: string }>`select id from email_changes where order_id = ${orderId}`.execute(shop.db)).rows[0]!.id // oxfmt-ignore
  const consented = await consent(orderId, moveToken(moveSigner([SECRET]), orderId, old), CONSENT.codeOf(SECRET, id))
  assert.equal(consented.status, 200)
  assert.equal((await detail(orderId)).email, right)
})

test('a code mail that is sent again after its reader has confirmed does nothing, whatever the mail server says', async () => {
  const { orderId, old, right } = await confirmedUnasked(away)
  const { rows } = await sql<{ id: string }>`select id from email_changes where order_id = ${orderId}`.execute(shop.db)
  const jobsOver = async () =>
    (
      await sql<{ isOver: boolean }>`
        select state in ('completed', 'failed') as "isOver" from pgboss.job
        where name = ${codeQueue(SECRET)} and data->>'id' = ${rows[0]!.id}`.execute(shop.db)
    ).rows
  // of the reader's other mail, the receipt, this job knows nothing
  const codes = () => mailsTo(right).filter(({ subject }) => /is your code/.test(subject)).length
  await deliverUntil(shop, jobsOver, (jobs) => jobs.every(({ isOver }) => isOver))
  assert.equal(codes(), 1)
  // the process died before it noted that the mail was accepted
  gone.add(right)
  const { rows: added } = await sql<{ job: string }>`
    insert into pgboss.job (name, data) values (${codeQueue(SECRET)}, jsonb_build_object('id', ${rows[0]!.id}::text))
    returning id as job`.execute(shop.db)
  await deliverUntil(
    shop,
    async () => (await sql`select from pgboss.job where id = ${added[0]!.job} and state in ('completed', 'failed')`.execute(shop.db)).rows, // oxfmt-ignore
    (over) => over.length === 1,
  )
  assert.equal(codes(), 1)
  away.delete(old)
  await deliverUntil(
    shop,
    () => moveOf(orderId),
    (move) => move?.movesAt != null,
  )
})

test('the mails to the old mailbox hold no name and no address that the seller can change', async () => {
  const [name, support] = ['Cheap pills', 'pills@spam.test']
  const owner = newMailbox()
  const sellerId = await ensureSeller(shop.db, { name, email: owner, trusted: true })
  await sql`update sellers set support_email = ${support} where id = ${sellerId}`.execute(shop.db)
  const seller = await signIn(owner)
  const [old, right] = [newMailbox(), newMailbox()]
  const order = await shop.checkout({ email: old, productId: await shop.product({ sellerId }) })
  await shop.confirm(order)
  await mailTo(old, /receipt/)
  await ask(order.orderId, right, seller)
  await confirm(order.orderId, right, await codeFor(order.orderId))
  await mailTo(old, QUESTION)
  await eventually(
    async () => (await sql`select 1 from email_changes where order_id = ${order.orderId} and moves_at is not null`.execute(shop.db)).rows, // oxfmt-ignore
    (rows) => rows.length === 1,
  )
  await timeIsOver(order.orderId)
  await finish()
  await mailTo(old, MOVED)
  const raw = server.mails
    .filter(({ to, mail: { subject = '' } }) => to.includes(old) && (QUESTION.test(subject) || MOVED.test(subject)))
    .map(({ mail }) => JSON.stringify(mail))
  assert.equal(raw.length, 2)
  assert(raw[0]!.includes('The seller was told that this address was a mistake'), raw[0])
  for (const mail of raw) assert(!mail.includes(name) && !mail.includes(support), mail)
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
