import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { sweepCodes } from '../../src/kit/code-table.ts'
import {
  type Line,
  askChargeCode,
  findCharge,
  liveCode,
  lookUp,
  mailboxCodeRow,
  mailedCode,
  pastOrder,
} from '../support/buyer.ts'
import {
  assertLimited,
  cookiesOf,
  count,
  newAddress,
  newBrowser,
  newGuesser,
  newMailbox,
  pauseIsOver,
  sharedPair,
  wrongCode,
} from '../support/seller.ts'
import { startService, startDatabaseProxy } from '../support/service.ts'
import {
  type Answer,
  SECRET,
  type TestShop,
  assertProblem,
  eventually,
  newDatabase,
  startTestShop,
  temporaryFolder,
} from '../support/shop.ts'
import { watchWork } from '../support/work.ts'

const work = watchWork()
const shared = sharedPair()
const limited = sharedPair({ LIMITS: 'code=3/900', TRUST_PROXY: '1' })
const of = (email: string) => sql<boolean>`email = ${email}`

/** The comparable part of a response: without ids, times and secrets. */
function told({ status, body, headers }: Answer) {
  const names = [...headers.keys()].filter((name) => !['date', 'connection', 'keep-alive'].includes(name)).sort()
  const cookies = cookiesOf(headers).map(({ name, attributes }) => [name, attributes])
  return { status, body: { ...body, requestId: typeof body?.requestId }, names, cookies }
}

const idsOf = ({ body }: Answer): string[] => body.orders.map(({ orderId }: { orderId: string }) => orderId)

/** The orders that each line finds, by their names. Empty when the response has only recent orders. */
async function matches(shop: TestShop, email: string, line: Line): Promise<string[]> {
  const { body } = await lookUp(shop, email, line)
  return body.matched ? body.orders.map(({ product }: { product: { name: string } }) => product.name) : []
}

test('the right code shows which order a line was, with all that a buyer needs to know it again', async () => {
  const [shop] = shared()
  const email = newMailbox()
  const orderId = await pastOrder(shop, email, { name: 'Invoice Pack', priceMinor: 49_900, currency: 'INR' })
  await pastOrder(shop, newMailbox(), { name: 'Invoice Pack' })
  const browser = newBrowser(shop)
  const line = { descriptor: 'till* invoice pack' }
  const asked = await askChargeCode(browser, ` ${email.toUpperCase()} `, line)
  assert.deepEqual([asked.status, asked.body], [202, { resendAfter: 30 }])
  const { status, body, headers } = await findCharge(browser, email, await mailedCode(shop, email), line)
  assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store'])
  assert.deepEqual(body, {
    matched: true,
    orders: [
      {
        orderId,
        orderUrl: `http://shop.test/order/?order=${orderId}`,
        status: 'paid',
        product: { name: 'Invoice Pack' },
        seller: { name: 'Ann' },
        amount: 49_900,
        currency: 'INR',
        refundedAmount: 0,
        statementDescriptor: 'TILL* INVOICE PACK',
        createdAt: '2026-03-10T12:00:00.000Z',
        paidAt: '2026-03-10T12:00:00.000Z',
      },
    ],
    more: false,
  })
})

test('a text is found in any printed form: other marks, cut, or with the bank’s own words around it', async () => {
  const [shop] = shared()
  const email = newMailbox()
  await pastOrder(shop, email, { name: 'Invoice Pack' })
  await pastOrder(shop, email, { name: 'Poems' })
  for (const descriptor of [
    'TILL INVOICE PACK',
    'till invoice pack',
    'TILL* INVOICE PACK',
    'Till *Invoice   Pack',
    'TILL.INVOICE-PACK',
    'TILLINVOICEPACK',
    'TILL INVOICE PA',
    'TILL*INV',
    'TILL INVOICE PACK 4029357733 BERLIN',
    'POS 1234 TILL INVOICE PACK',
    'CARD PURCHASE TILL INVOICE PA BERLIN DE',
  ])
    // oxfmt-ignore
    assert.deepEqual(await matches(shop, email, { descriptor }), ['Invoice Pack'], descriptor)
  for (const descriptor of ['Poems', 'TILL POEMS%', 'till_poems', 'POEMS 12/03 TILL POEMS X'])
    assert.deepEqual(await matches(shop, email, { descriptor }), ['Poems'], descriptor)
  for (const descriptor of [
    'OTHER SHOP',
    'TILL NOVELS',
    'POE%MS_1',
    "x'; drop table orders; --",
    '%%%___abc',
    'TILL INVENTORY',
  ])
    assert.deepEqual(await matches(shop, email, { descriptor }), [], descriptor)
  assert.deepEqual((await matches(shop, email, { descriptor: 'TILL' })).sort(), ['Invoice Pack', 'Poems'])
})

test('an order from before the star was part of the line is found by its old line and by the line that the bank printed', async () => {
  const [shop] = shared()
  const email = newMailbox()
  const orderId = await pastOrder(shop, email, { name: 'Invoice Pack' })
  await sql`update orders set statement_descriptor = 'TILL INVOICE PACK' where id = ${orderId}`.execute(shop.db)
  for (const descriptor of ['TILL INVOICE PACK', 'TILL* INVOICE PACK', 'TILL* INVOICE PACK 4029357733 BERLIN'])
    assert.deepEqual(await matches(shop, email, { descriptor }), ['Invoice Pack'], descriptor)
})

test('an amount and a date are found in any currency, up to three days off, by the day of the order or of the payment', async () => {
  const [shop] = shared()
  const email = newMailbox()
  await pastOrder(shop, email, { name: 'Rupees', priceMinor: 49_900, currency: 'INR' })
  await pastOrder(shop, email, { name: 'Dollars', priceMinor: 499, currency: 'USD', created: '2026-03-01T23:59:59.999Z', paid: '2026-03-09T00:00:00Z' }) // oxfmt-ignore
  await pastOrder(shop, email, { name: 'Yen', priceMinor: 499, currency: 'JPY' })
  await pastOrder(shop, email, { name: 'Dinars', priceMinor: 1234, currency: 'KWD' })
  await pastOrder(shop, email, { name: 'Dear', priceMinor: 123_400, currency: 'EUR' })
  const on = (amount: string, date = '2026-03-10') =>
    matches(shop, email, { amount, date }).then((names) => names.sort())
  for (const amount of ['499', '499.00', '499,00', '₹499', ' 499.00 INR', '-499.00'])
    assert.deepEqual(await on(amount), ['Rupees', 'Yen'], amount)
  assert.deepEqual(await on('4,99'), ['Dollars'])
  assert.deepEqual(await on('$4.99'), ['Dollars'])
  assert.deepEqual(await on('1.234'), ['Dear', 'Dinars'])
  assert.deepEqual(await on('1,234.00'), ['Dear'])
  for (const amount of ['49900', '4.98', '499.01', '0', '999999999999999'])
    assert.deepEqual(await on(amount), [], amount)
  for (const [date, fits] of [
    ['2026-03-06', false],
    ['2026-03-07', true],
    ['2026-03-10', true],
    ['2026-03-13', true],
    ['2026-03-14', false],
    ['2025-03-10', false],
  ] as const)
    // oxfmt-ignore
    assert.equal((await on('499.00', date)).includes('Rupees'), fits, date)
  for (const [date, fits] of [
    ['2026-02-25', false],
    ['2026-02-26', true],
    ['2026-03-04', true],
    ['2026-03-05', false],
    ['2026-03-06', true],
    ['2026-03-12', true],
    ['2026-03-13', false],
  ] as const)
    // oxfmt-ignore
    assert.equal((await on('4.99', date)).length === 1, fits, date)
})

test('orders that match text and amount come before those that match one of them, and paid ones before unpaid ones', async () => {
  const [shop] = shared()
  const email = newMailbox()
  const unpaid = await pastOrder(shop, email, { name: 'Poems', created: '2026-03-11T00:00:00Z', paid: null })
  const older = await pastOrder(shop, email, { name: 'Poems', created: '2026-01-01T00:00:00Z' })
  const newer = await pastOrder(shop, email, { name: 'Poems', created: '2026-02-01T00:00:00Z' })
  const both = await pastOrder(shop, email, { name: 'Poems', priceMinor: 700, created: '2025-01-01T00:00:00Z' })
  const line = { descriptor: 'TILL POEMS', amount: '7', date: '2025-01-01' }
  assert.deepEqual(idsOf(await lookUp(shop, email, line)), [both, newer, older, unpaid])
})

test('without a match the response has the recent orders of the mailbox, and says that they do not match', async () => {
  const [shop] = shared()
  const email = newMailbox()
  const productId = await shop.product()
  const paid = await pastOrder(shop, email, { created: '2020-01-01T00:00:00Z' })
  // a stranger who makes orders with the buyer's address cannot push the paid ones out
  for (let made = 0; made < 22; made++) await shop.checkout({ productId, email })
  const answer = await lookUp(shop, email, { descriptor: 'ANOTHER SHOP' })
  assert.deepEqual([answer.body.matched, answer.body.more], [false, true])
  assert.equal(answer.body.orders.length, 20)
  assert.equal(answer.body.orders[0].orderId, paid)
  const none = await lookUp(shop, newMailbox(), { descriptor: 'ANOTHER SHOP' })
  assert.deepEqual(none.body, { matched: false, orders: [], more: false })
})

test('only the mailbox’s own orders are shown, however similar another address looks', async () => {
  const [shop] = shared()
  const [name, domain] = newMailbox().split('@') as [string, string]
  const own = await pastOrder(shop, `${name}@${domain}`, { name: 'Poems' })
  for (const alike of [`${name}+x@${domain}`, `${name}.@${domain}`, `x${name}@${domain}`, `${name}@x.${domain}`, `${name}@${domain}.x.test`, `${name}_@${domain}`, `${name}%@${domain}`, `%@${domain}`, `_${name.slice(1)}@${domain}`]) {
    const answer = await lookUp(shop, alike, { descriptor: 'TILL POEMS' })
    assert.deepEqual(answer.body, { matched: false, orders: [], more: false }, alike)
  } // oxfmt-ignore
  for (const wrong of ['', 'ann', `${name}@${domain},eve@evil.example`, `${name}@${domain}\r\nBcc: eve@evil.example`, `${name}@${domain}\0`, `${name.replace(/[a-f]/, 'а')}а@${domain}`, [`${name}@${domain}`], { email: 'x' }, null, 1]) {
    assertProblem(await askChargeCode(newBrowser(shop), wrong), 400, 'validation_failed')
    assertProblem(await findCharge(newBrowser(shop), wrong, '000000'), 400, 'validation_failed')
  } // oxfmt-ignore
  assert.deepEqual(idsOf(await lookUp(shop, `${name}@${domain}`, { descriptor: 'TILL POEMS' })), [own])
})

test('a line with too little information is refused before any code is sent or used up', async () => {
  const [shop] = shared()
  const email = newMailbox()
  await pastOrder(shop, email)
  const browser = newBrowser(shop)
  await askChargeCode(browser, email)
  const code = await mailedCode(shop, email)
  const before = [await count(shop, 'mailbox_codes'), await count(shop, 'pgboss.job'), await count(shop, 'outbox')]
  for (const [line, path] of [
    [{}, 'descriptor'], [{ descriptor: '' }, 'descriptor'], [{ descriptor: ' * ' }, 'descriptor'], [{ descriptor: 'ab' }, 'descriptor'], [{ descriptor: 'x'.repeat(101) }, 'descriptor'], [{ descriptor: 7 }, 'descriptor'], [{ descriptor: ['TILL'] }, 'descriptor'], [{ descriptor: null }, 'descriptor'],
    [{ amount: '4.99' }, 'date'], [{ date: '2026-03-10' }, 'amount'], [{ amount: 4.99, date: '2026-03-10' }, 'amount'], [{ amount: 'x', date: '2026-03-10' }, 'amount'], [{ amount: '1'.repeat(41), date: '2026-03-10' }, 'amount'], [{ amount: '4.99', date: '2026-02-30' }, 'date'], [{ amount: '4.99', date: '10.3.2026' }, 'date'], [{ amount: '4.99', date: 20260310 }, 'date'], [{ amount: '4.99', date: '0000-00-00' }, 'date'],
  ] as const) {
    for (const answer of [await askChargeCode(browser, email, line), await findCharge(browser, email, code, line)]) {
      assertProblem(answer, 400, 'validation_failed')
      assert.equal(answer.body.fields[0].path, path, JSON.stringify(line))
      assert.deepEqual(cookiesOf(answer.headers), [])
    }
  } // oxfmt-ignore
  for (const wrong of ['', '12345', '1234567', 'abcdef', '١٢٣٤٥٦', Number(code), [code], null])
    assertProblem(await findCharge(browser, email, wrong), 400, 'validation_failed')
  for (const body of ['[]', '"x"', '1', 'null', '{', ''])
    for (const path of ['code', 'verify'])
      assert.equal((await browser.call('POST', `/api/charges/${path}`, body)).status, 400, body)
  assert.deepEqual([await count(shop, 'mailbox_codes'), await count(shop, 'pgboss.job'), await count(shop, 'outbox')], before) // oxfmt-ignore
  assert.equal((await findCharge(browser, email, ` ${code.slice(0, 3)}-${code.slice(3)} `)).status, 200)
})

test('only its mail tells whether an address has orders', async () => {
  const [shop] = shared()
  const [known, unknown] = [newMailbox(), newMailbox()]
  await pastOrder(shop, known)
  const answers = []
  for (const email of [known, unknown]) {
    const browser = newBrowser(shop)
    const asked = await askChargeCode(browser, email)
    const wrong = await findCharge(browser, email, wrongCode(await liveCode(shop, email)))
    const elsewhere = await findCharge(newBrowser(shop), email, '000000')
    answers.push([asked, wrong, elsewhere].map(told))
  }
  assert.deepEqual(answers[0], answers[1])
  const [mail] = await eventually(
    () => shop.mails(unknown),
    ({ length }) => length > 0,
  )
  assert.match(mail!.subject, /^Nothing was bought at shop\.test with this address$/)
  assert.doesNotMatch(mail!.text + mail!.html, /\b\d{6}\b(?!;)|https?:|href=|src=|<script/i)
  const code = await mailedCode(shop, known)
  const [withCode] = await shop.mails(known)
  assert(withCode!.text.includes(code) && withCode!.html.includes(code))
  assert.doesNotMatch(withCode!.text + withCode!.html, /https?:|href=|src=|A book|<script/i)
  assert.match(withCode!.text, /not ask for it\?/)
})

test('a request for a code costs the same work for a mailbox that has bought as for one that has not', async () => {
  const [shop] = shared()
  const known = newMailbox()
  const productId = await shop.product()
  await shop.checkout({ productId, email: known })
  for (const [side, email] of Object.entries({ known, unknown: newMailbox() }))
    assert.equal((await askChargeCode(newBrowser(shop, { headers: work.headers(side) }), email)).status, 202)
  assert(work.of('known').length > 0)
  assert.deepEqual(work.of('unknown'), work.of('known'))
})

test('after five wrong tries a code ends, and of two hundred simultaneous ones, at two services, five count', async () => {
  const [shop, second] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await askChargeCode(browser, email)
  const code = await liveCode(shop, email)
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => findCharge(at % 2 ? browser : browser.through(second), email, wrongCode(String((Number(code) + at) % 999_000)))), // oxfmt-ignore
  )
  for (const answer of answers) assertProblem(answer, 401, 'invalid_code')
  assert.equal((await mailboxCodeRow(shop, email))!.wrongTries, 5)
  assertProblem(await findCharge(browser, email, code), 401, 'invalid_code')
  await lookUp(shop, email, { descriptor: 'TILL' })
})

test('the right code fifty times at once, at two services, is right once', async () => {
  const [shop, second] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await pastOrder(shop, email)
  await askChargeCode(browser, email)
  const code = await liveCode(shop, email)
  const cookie = `till_charge_code=${browser.jar.value('till_charge_code')}`
  const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => findCharge(at % 2 ? browser : browser.through(second), email, code))) // oxfmt-ignore
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers) if (answer.status !== 200) assertProblem(answer, 401, 'invalid_code')
  assert.equal(browser.jar.value('till_charge_code'), undefined, 'the browser forgets what it asked for')
  const body = { email, code, descriptor: 'TILL' }
  assertProblem(await shop.call('POST', '/api/charges/verify', body, { cookie }), 401, 'invalid_code')
})

test('a code works only in the browser that requested it, and other browsers use up none of its tries', async () => {
  const [shop] = shared()
  const [browser, stranger] = [newBrowser(shop), newBrowser(shop)]
  const [email, other] = [newMailbox(), newMailbox()]
  await askChargeCode(browser, email)
  await askChargeCode(stranger, other)
  const code = await liveCode(shop, email)
  const token = browser.jar.value('till_charge_code')!
  for (const given of [code, wrongCode(code)])
    for (const one of [stranger, newGuesser(shop, { cookie: 'till_charge_code' })])
      for (let time = 0; time < 4; time++) assertProblem(await findCharge(one, email, given), 401, 'invalid_code')
  for (const cookie of [token.slice(1), `${token}x`, 'x'.repeat(43), '', `"${token}`]) {
    const body = { email, code, descriptor: 'TILL' }
    const answer = await shop.call('POST', '/api/charges/verify', body, { cookie: `till_charge_code=${cookie}` })
    assertProblem(answer, 401, 'invalid_code')
  }
  assertProblem(await findCharge(browser, other, code), 401, 'invalid_code')
  assert.equal((await mailboxCodeRow(shop, email))!.wrongTries, 0)
  assert.equal((await findCharge(browser, email, code)).status, 200)
})

test('a browser that keeps no cookie learns that the cookie is missing, of any code and mailbox, and it is no try', async () => {
  const [shop] = limited()
  const headers = { 'x-forwarded-for': newAddress() }
  const blocking = () => newBrowser(shop, { headers })
  const email = newMailbox()
  await pastOrder(shop, email)
  const asking = blocking()
  await askChargeCode(asking, email)
  const code = await liveCode(shop, email)
  // more than the ten wrong codes of a network
  for (let time = 0; time < 4; time++)
    for (const [mailbox, given] of [
      [email, code],
      [email, wrongCode(code)],
      [newMailbox(), code],
    ] as const)
      for (const path of ['charges', 'library']) {
        const answer = await blocking().call('POST', `/api/${path}/verify`, { email: mailbox, code: given, ...(path === 'charges' && { descriptor: 'TILL' }) }) // oxfmt-ignore
        assertProblem(answer, 401, 'cookie_missing')
        assert.match(answer.body.detail, /Allow cookies/)
      }
  assert.equal((await mailboxCodeRow(shop, email))!.wrongTries, 0)
  assert.equal((await findCharge(asking, email, code)).status, 200)
})

test('codes that strangers request for an address leave the owner’s code valid', async () => {
  const [shop, second] = shared()
  const email = newMailbox()
  await pastOrder(shop, email)
  const browsers = Array.from({ length: 20 }, (_, at) => newBrowser(at % 2 ? shop : second))
  await Promise.all(browsers.map((browser) => askChargeCode(browser, email)))
  for (const browser of browsers) assert.equal((await findCharge(browser, email, await liveCode(shop, email, browser))).status, 200) // oxfmt-ignore
})

test('a browser’s newer code is its only one, and one that is expired by the database’s clock is invalid', async () => {
  const [shop, second] = shared()
  const [email, other] = [newMailbox(), newMailbox()]
  const browser = newBrowser(shop)
  await askChargeCode(browser, email)
  const first = await liveCode(shop, email, browser)
  const held = newBrowser(shop)
  held.jar.keep(new URL('http://shop.test/api/charges/code'), new Headers({ 'set-cookie': `till_charge_code=${browser.jar.value('till_charge_code')}; path=/` })) // oxfmt-ignore
  await Promise.all(Array.from({ length: 10 }, (_, at) => askChargeCode(at % 2 ? browser : browser.through(second), email))) // oxfmt-ignore
  assertProblem(await findCharge(held, email, first), 401, 'invalid_code')
  await askChargeCode(browser, email)
  assert.equal((await findCharge(browser, email, await liveCode(shop, email, browser))).status, 200)

  // with another address too
  await askChargeCode(browser, email)
  await askChargeCode(browser, other)
  assertProblem(await findCharge(browser, email, await liveCode(shop, email)), 401, 'invalid_code')

  await askChargeCode(browser, email)
  const late = await liveCode(shop, email, browser)
  await sql`update mailbox_codes set expires_at = now() - interval '1 second' where email = ${email}`.execute(shop.db)
  assertProblem(await findCharge(browser, email, late), 401, 'invalid_code')
})

test('a code to sign in shows no orders, and one for a charge signs in no seller', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await pastOrder(shop, email)
  await browser.askCode(email)
  await askChargeCode(browser, email)
  const [toSignIn, toSee] = [await browser.codeFor(email), await liveCode(shop, email)]
  if (toSignIn === toSee) return
  assertProblem(await findCharge(browser, email, toSignIn), 401, 'invalid_code')
  assertProblem(await browser.tryCode(email, toSee), 401, 'invalid_code')
  assert.equal((await findCharge(browser, email, toSee)).status, 200)
  assert.equal((await browser.tryCode(email, toSignIn)).status, 200, 'neither takes the other’s place')
})

test('the database has nothing from which a code could be made', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await pastOrder(shop, email)
  await askChargeCode(browser, email)
  const code = await mailedCode(shop, email)
  const token = browser.jar.value('till_charge_code')!
  const { rows } = await sql<{ row: string }>`
    select data::text as row from pgboss.job where starts_with(name, 'mailbox_code') union all
    select c::text from mailbox_codes c where email = ${email}`.execute(shop.db)
  assert(rows.length > 1)
  for (const { row } of rows) {
    assert(!row.includes(token) && !row.includes(Buffer.from(token).toString('hex')), 'what the browser holds')
    assert.doesNotMatch(row, new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`))
  }
})

test('the cookie goes to this host alone, no other host can set it, no script reads it, and it lives as long as a code', async (t) => {
  const [shop] = shared()
  const [cookie] = cookiesOf((await askChargeCode(newBrowser(shop), newMailbox())).headers)
  assert.equal(cookie!.name, 'till_charge_code')
  assert.deepEqual(cookie!.attributes, { 'max-age': '600', path: '/', httponly: true, samesite: 'Strict' })
  const https = await startTestShop(t, { env: { BASE_URL: 'https://api.shop.example', APP_URL: 'https://app.shop.example', COOKIE_DOMAIN: 'shop.example' } }) // oxfmt-ignore
  const [safe] = cookiesOf((await askChargeCode(newBrowser(https), newMailbox())).headers)
  assert.equal(safe!.name, '__Host-till_charge_code')
  assert.deepEqual(safe!.attributes, { ...cookie!.attributes, secure: true })
})

test('no other site’s page can request or try a code', async () => {
  const [shop] = shared()
  const browser = newBrowser(shop)
  const email = newMailbox()
  await askChargeCode(browser, email)
  const code = await liveCode(shop, email)
  for (const origin of ['null', 'https://evil.example', 'http://shop.test.evil.example', 'https://shop.test', 'http://shop.test:81', '']) {
    for (const [path, body] of [
      ['code', { email, descriptor: 'TILL' }],
      ['verify', { email, code, descriptor: 'TILL' }],
    ] as const) {
      const answer = await browser.call('POST', `/api/charges/${path}`, body, { origin })
      assertProblem(answer, 403, 'origin_not_allowed')
      assert.equal(answer.headers.get('access-control-allow-origin'), 'http://shop.test')
    }
  } // oxfmt-ignore
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'])
    assert.equal((await browser.call(method, `/api/charges/verify?email=${email}&code=${code}`)).status, 405)
  assert.equal((await findCharge(browser, email, code)).status, 200)
})

test('a code is forgotten a day after it ran out', async () => {
  const [shop] = shared()
  const [email, later] = [newMailbox(), newMailbox()]
  for (const one of [email, later]) await askChargeCode(newBrowser(shop), one)
  await sql`update mailbox_codes set expires_at = now() - interval '25 hours' where email = ${email}`.execute(shop.db)
  const { rows } = await sql`select 1 from pgboss.schedule where name = 'sweep_mailbox_codes'`.execute(shop.db)
  assert.equal(rows.length, 1, 'by the clock')
  await sweepCodes(shop.db)
  assert.deepEqual(
    [await count(shop, 'mailbox_codes', of(email)), await count(shop, 'mailbox_codes', of(later))],
    [0, 1],
  )
})

test('while a secret is being replaced, codes of the old one are valid and mailed', async (t) => {
  const old = await startTestShop(t)
  const email = newMailbox()
  await pastOrder(old, email)
  const browser = newBrowser(old)
  await askChargeCode(browser, email)
  const code = await mailedCode(old, email)
  const shop = await startTestShop(t, { env: { SECRET: `another secret that is long enough too,${SECRET}` }, databaseUrl: old.databaseUrl }) // oxfmt-ignore
  assert.equal((await findCharge(browser.through(shop), email, code)).status, 200)
})

// Limits, over two services

const from = () => ({ headers: { 'x-forwarded-for': newAddress() } })

test('a network gets three codes in fifteen minutes for a mailbox, across two services, and delays no other network', async () => {
  const [shop, second] = limited()
  const [email, stranger, owner] = [newMailbox(), from(), from()]
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => askChargeCode(newBrowser(n % 2 ? shop : second, stranger), email)),
  )
  assert.equal(answers.filter(({ status }) => status === 202).length, 3)
  for (const answer of answers) if (answer.status !== 202) assertLimited(answer, 3, 800, 900)
  assert.equal((await newBrowser(shop, stranger).askCode(email)).status, 202, 'a seller of that mailbox still gets in')
  assert.equal((await askChargeCode(newBrowser(second, stranger), newMailbox())).status, 202, 'another mailbox')
  assert.equal((await askChargeCode(newBrowser(second, owner), email)).status, 202, 'from another network')
  await pauseIsOver(shop, email)
  assert.equal((await askChargeCode(newBrowser(second, stranger), email)).status, 202)
})

test('all networks together get sixty codes an hour for a mailbox, and the answer does not say that one was lost', async () => {
  const [shop, second] = limited()
  const email = newMailbox()
  const owner = newBrowser(shop, from())
  await askChargeCode(owner, email)
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, n) => askChargeCode(newBrowser(n % 2 ? shop : second, from()), email)),
  )
  assert.equal(answers.filter(({ status }) => status === 202).length, 59)
  const again = await askChargeCode(owner, email)
  assertLimited(again, 60, 3500, 3600)
  assert.match(again.body.detail, /from your network or for this address.*stays valid/)
  assert.equal((await findCharge(owner, email, await liveCode(shop, email, owner))).status, 200)
})

test('a network gets ten codes an hour, for whichever mailboxes, bought with or not', async () => {
  const [shop, second] = limited()
  const one = from()
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, at) => askChargeCode(newBrowser(at % 2 ? shop : second, one), newMailbox())),
  )
  assert.equal(answers.filter(({ status }) => status === 202).length, 10)
  for (const answer of answers) if (answer.status !== 202) assertLimited(answer, 10, 3500, 3600)
})

test('a stranger who requests codes and guesses with an address locks out only the own network', async () => {
  const [shop, second] = limited()
  const email = newMailbox()
  await pastOrder(shop, email)
  const owner = newBrowser(shop, from())
  await askChargeCode(owner, email)
  const stranger = from()
  for (let code = 0; code < 2; code++) {
    const browser = newBrowser(second, stranger)
    assert.equal((await askChargeCode(browser, email)).status, 202)
    const wrong = wrongCode(await liveCode(shop, email, browser))
    for (let time = 0; time < 5; time++) assertProblem(await findCharge(browser, email, wrong), 401, 'invalid_code')
  }
  const limit = await findCharge(newGuesser(second, { cookie: 'till_charge_code', ...stranger }), newMailbox(), '000000') // oxfmt-ignore
  assertLimited(limit, 10, 3500, 3600)
  assert.match(limit.body.detail, /from your network or for this address/)
  assert.equal((await findCharge(owner, email, await liveCode(shop, email, owner))).status, 200)
  await askChargeCode(owner, email)
  assert.equal((await findCharge(owner, email, await liveCode(shop, email, owner))).status, 200)
})

test('a mailbox takes sixty wrong codes an hour from everywhere, then not even the right one; typing only its address uses up none', async () => {
  const [shop, second] = limited()
  const email = newMailbox()
  for (let time = 0; time < 70; time++) {
    const stranger = newGuesser(time % 2 ? shop : second, { cookie: 'till_charge_code', ...from() })
    assertProblem(await findCharge(stranger, email, '000000'), 401, 'invalid_code')
  }
  for (let code = 0; code < 12; code++) {
    const browser = newBrowser(code % 2 ? shop : second, from())
    await askChargeCode(browser, email)
    const wrong = wrongCode(await liveCode(shop, email, browser))
    for (let time = 0; time < 5; time++) assertProblem(await findCharge(browser, email, wrong), 401, 'invalid_code')
  }
  const browser = newBrowser(shop, from())
  await askChargeCode(browser, email)
  assertLimited(await findCharge(browser, email, await liveCode(shop, email, browser)), 60, 3500, 3600)
  await pauseIsOver(shop, email)
  assert.equal((await findCharge(browser, email, await liveCode(shop, email, browser))).status, 200)
})

test('while the database is down both routes say so, and the browser’s cookies stay valid', async (t) => {
  const wire = await startDatabaseProxy(t, await newDatabase(t))
  const shop = await startTestShop(t, { databaseUrl: wire.url, env: { LIMITS: 'code=1000/900,code_try=1000/900' } })
  const browser = newBrowser(shop)
  const email = newMailbox()
  await pastOrder(shop, email)
  await askChargeCode(browser, email)
  const code = await mailedCode(shop, email)
  await wire.cut()
  for (const answer of [await askChargeCode(browser, email), await findCharge(browser, email, code)]) {
    assertProblem(answer, 503, 'database_unavailable')
    assert.deepEqual(cookiesOf(answer.headers), [])
  }
  await wire.mend()
  const found = await eventually(
    () => findCharge(browser, email, code),
    ({ status }) => status !== 503,
  )
  assert.equal(found.status, 200)
})

test('the log contains nothing about the client', async (t) => {
  const service = await startService(t, await temporaryFolder(t), { DATABASE_URL: await newDatabase(t), LOG_LEVEL: 'trace' }) // oxfmt-ignore
  const email = 'a-buyer-of-note@private.example'
  const body = { email, descriptor: 'A PRIVATE LINE', amount: '48151.62', date: '2026-03-10' }
  const asked = await service.call('POST', '/api/charges/code', body)
  assert.equal(asked.status, 202)
  const cookie = asked.headers['set-cookie']![0]!.split(';')[0]!
  const statuses = []
  for (const more of [{ code: '271828' }, { code: 'x' }, { code: '271828', date: '' }])
    statuses.push(
      (await service.call('POST', '/api/charges/verify', { ...body, ...more }, { headers: { cookie } })).status,
    )
  assert.deepEqual(statuses, [401, 400, 400])
  await eventually(
    async () => (await service.call('GET', `/api/outbox?to=${email}`)).body,
    ({ length }) => length > 0,
  )
  await eventually(
    async () => service.output(),
    (output) => output.split('/api/charges/verify').length === 4,
  )
  for (const secret of [
    'private.example',
    'a-buyer',
    'PRIVATE',
    '48151',
    '2026-03-10',
    '271828',
    cookie.split('=')[1]!,
  ])
    assert(!service.output().includes(secret), secret)
})
