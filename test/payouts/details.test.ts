import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { payoutSeal } from '../../src/payouts/details.ts'
import { openDestination, sealDestination } from '../../src/payouts/destination.ts'
import { SCOPES } from '../../src/sellers/keys/scopes.ts'
import { makeKey, programWith } from '../support/keys.ts'
import { operatorOf } from '../operator/support.ts'
import { type Browser, newBrowser, newMailbox } from '../support/seller.ts'
import { type TestShop, assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'
import { MANUAL, dueSeller, runs } from './support.ts'

const shared = sharedShop()

const IBAN = 'DE89370400440532013000'
const OTHER_IBAN = 'NL91ABNA0417164300'
const EURO = { kind: 'iban', name: 'Ann Müller', iban: IBAN, bic: 'COBADEFFXXX' }
const UPI = { kind: 'upi', name: 'Asha Rao', upiId: 'Asha.Rao@okbank' }
const INDIAN = { kind: 'india_account', name: 'Asha Rao', account: 'hdfc0001234 50100012345678' }
const ELSEWHERE = {
  kind: 'other',
  name: 'Zoe Smith',
  country: 'us',
  lines: ['First Bank of Springfield', 'Routing 021000021', 'Account AC12345678901'],
}

async function newSeller(shop: TestShop = shared(), email = newMailbox()) {
  const browser = newBrowser(shop)
  const { body } = await browser.signInByCode(email)
  return { browser, email, id: body.seller.id as string }
}

const put = (browser: Pick<Browser, 'call'>, currency: string, body: unknown) =>
  browser.call('PUT', `/api/payout-details/${currency}`, body)
const list = async (browser: Browser) => (await browser.call('GET', '/api/payout-details')).body.items
const signInIsOld = (shop: TestShop, id: string) =>
  sql`update sessions set created_at = now() - interval '11 minutes' where seller_id = ${id}`.execute(shop.db)
/** The details as the database keeps them. */
async function sealedOf({ db }: TestShop, sellerId: string) {
  const { rows } = await sql<{ currency: string; sealed: Buffer }>`
    select currency, sealed from payout_details where seller_id = ${sellerId}`.execute(db)
  return rows
}
const noticesTo = async (shop: TestShop, email: string) =>
  (await shop.mails(email)).filter(({ subject }) => /payout/.test(subject))

test('without a session nobody reads or changes payout details', async () => {
  const { call } = shared()
  assertProblem(await call('GET', '/api/payout-details'), 401, 'not_signed_in')
  assertProblem(await call('PUT', '/api/payout-details/EUR', EURO), 401, 'not_signed_in')
  assertProblem(await call('DELETE', '/api/payout-details/EUR'), 401, 'not_signed_in')
})

test('no key reads or changes payout details, whatever it may do otherwise', async () => {
  const shop = shared()
  const ann = newBrowser(shop)
  await ann.signInByCode('ann@shop.test')
  const { secret } = await makeKey(ann, SCOPES)
  const program = programWith(shop, secret)
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', '/EUR'],
    ['DELETE', '/EUR'],
  ] as const)
    // oxfmt-ignore
    assertProblem(
      await program.call(method, `/api/payout-details${path}`, method === 'PUT' ? EURO : undefined),
      403,
      'key_not_accepted',
    )
})

test('a change needs a recent sign-in, reading does not', async () => {
  const shop = shared()
  const { browser, id } = await newSeller()
  assert.equal((await put(browser, 'EUR', EURO)).status, 200)
  await signInIsOld(shop, id)
  assertProblem(await put(browser, 'EUR', { ...EURO, iban: OTHER_IBAN }), 403, 'recent_sign_in_required')
  assertProblem(await browser.call('DELETE', '/api/payout-details/EUR'), 403, 'recent_sign_in_required')
  assert.equal((await list(browser))[0].shown, 'DE … 3000')
})

test('wrong details are refused with a code of their own, and nothing is kept', async () => {
  const { browser } = await newSeller()
  const cases: [string, object, string][] = [
    ['EUR', { ...EURO, iban: 'DE89370400440532013001' }, 'iban_invalid'],
    ['EUR', { ...EURO, iban: 'DE8937040044053201300' }, 'iban_invalid'],
    ['EUR', { ...EURO, iban: 'XX89370400440532013000' }, 'iban_invalid'],
    ['EUR', { ...EURO, iban: 'TR330006100519786457841326' }, 'iban_invalid'],
    ['EUR', { ...EURO, iban: '💥' }, 'iban_invalid'],
    ['EUR', { ...EURO, bic: 'COBA' }, 'bic_invalid'],
    ['EUR', { ...EURO, bic: 'COBA1EFFXXX' }, 'bic_invalid'],
    ['EUR', UPI, 'kind_not_for_currency'],
    ['USD', INDIAN, 'kind_not_for_currency'],
    ['INR', EURO, 'kind_not_for_currency'],
    ['INR', { ...UPI, upiId: 'asha' }, 'upi_invalid'],
    ['INR', { ...UPI, upiId: 'a@okbank' }, 'upi_invalid'],
    ['INR', { ...UPI, upiId: 'asha@ok bank' }, 'upi_invalid'],
    ['INR', { ...UPI, upiId: 'asha@bank.example' }, 'upi_invalid'],
    ['INR', { ...INDIAN, account: '50100012345678' }, 'ifsc_invalid'],
    ['INR', { ...INDIAN, account: 'HDFC100123450100012345678' }, 'ifsc_invalid'],
    ['INR', { ...INDIAN, account: 'HDFC000123412345678' }, 'account_number_invalid'],
    ['INR', { ...INDIAN, account: 'HDFC00012341234567890123456789' }, 'account_number_invalid'],
    ['XXX', EURO, 'currency_not_sold'],
    ['eur', EURO, 'currency_not_sold'],
    ['XAU', EURO, 'currency_not_sold'],
  ]
  for (const [currency, body, code] of cases) assertProblem(await put(browser, currency, body), 422, code)
  assertProblem(await browser.call('DELETE', '/api/payout-details/eur'), 422, 'currency_not_sold')
  assertProblem(await browser.call('DELETE', '/api/payout-details/EUR'), 404, 'payout_details_not_found')
  assert.deepEqual(await list(browser), [])
})

test('fields that are missing, too much or not plain text are named', async () => {
  const { browser } = await newSeller()
  const cases: [object, string[]][] = [
    [{ kind: 'iban', name: 'Ann' }, ['iban']],
    [{ ...EURO, lines: ['x'], upiId: 'a' }, ['upiId', 'lines']],
    [{ kind: 'other', name: 'Ann' }, ['country', 'lines']],
    [{ ...ELSEWHERE, country: 'ZZ' }, ['country']],
    [{ ...ELSEWHERE, country: '1A' }, ['country']],
    [{ ...ELSEWHERE, country: 'EU' }, ['country']],
    // codes that others have replaced
    [{ ...ELSEWHERE, country: 'UK' }, ['country']],
    [{ ...ELSEWHERE, country: 'DD' }, ['country']],
  ]
  for (const [body, paths] of cases) {
    const answer = await put(browser, 'USD', body)
    assertProblem(answer, 400, 'validation_failed')
    assert.deepEqual(answer.body.fields.map(({ path }: { path: string }) => path), paths) // oxfmt-ignore
  }
  for (const body of [
    {},
    { ...EURO, kind: 'card' },
    { ...EURO, name: '' },
    { ...EURO, name: ' ' },
    { ...EURO, name: 'Ann\nMüller' },
    { ...EURO, name: 'Ann\0' },
    { ...EURO, name: '\u202eAnn' },
    { ...EURO, name: 'x'.repeat(71) },
    { ...EURO, iban: 7 },
    { ...EURO, iban: 'D'.repeat(100) },
    { ...ELSEWHERE, lines: [] },
    { ...ELSEWHERE, lines: ['a\r\nb'] },
    { ...ELSEWHERE, lines: ['x'.repeat(101)] },
    { ...ELSEWHERE, lines: Array.from({ length: 11 }, () => 'x') },
    { ...ELSEWHERE, lines: [{}] },
  ])
    assertProblem(await put(browser, 'USD', body), 400, 'validation_failed')
  assert.deepEqual(await list(browser), [])
})

test('a card’s number is refused in every field, and an account number of the same shape has its place', async () => {
  const { browser } = await newSeller()
  const card = '4000002500003155'
  for (const body of [
    { ...EURO, name: card },
    { ...EURO, iban: card },
    { ...INDIAN, account: card },
    { ...INDIAN, account: '50100000000007' },
    { ...INDIAN, account: `HDFC0001234 ${card}` },
    { ...INDIAN, account: `HDFC0001234${card}` },
    { ...UPI, upiId: `${card}@okbank` },
    { ...ELSEWHERE, lines: ['Bank', `Account ${card}`] },
  ])
    assertProblem(await put(browser, 'INR', body), 400, 'card_number_refused')
  assertProblem(await put(browser, card, EURO), 400, 'card_number_refused')
  // an account number of a large Indian bank, with a right check digit by chance
  const answer = await put(browser, 'INR', { ...INDIAN, account: 'HDFC000123450100000000007' })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
})

test('each kind is kept sealed and shown masked, and a seller sees only the own ones', async () => {
  const shop = shared()
  const { browser, id } = await newSeller()
  const eve = await newSeller()
  const shown = async (currency: string, body: object) => {
    const answer = await put(browser, currency, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return [answer.body.currency, answer.body.kind, answer.body.country, answer.body.shown]
  }
  assert.deepEqual(await shown('EUR', { ...EURO, iban: 'de89 3704 0044 0532 0130 00', bic: 'cobadeffxxx' }), ['EUR', 'iban', 'DE', 'DE … 3000']) // oxfmt-ignore
  assert.deepEqual(await shown('INR', UPI), ['INR', 'upi', 'IN', 'a…@okbank'])
  assert.deepEqual(await shown('INR', INDIAN), ['INR', 'india_account', 'IN', 'HDFC … 5678'])
  assert.deepEqual(await shown('USD', ELSEWHERE), ['USD', 'other', 'US', 'US … 8901'])
  const codes = { ...ELSEWHERE, lines: ['Account AC-554433', 'Bank', 'SWIFT EXAMPLE'] }
  assert.deepEqual(await shown('GBP', codes), ['GBP', 'other', 'US', 'US … 33'])
  assert.deepEqual(await shown('GBP', { ...ELSEWHERE, country: 'GB', lines: ['Bank', '12-34-56'] }), ['GBP', 'other', 'GB', 'Bank in GB']) // oxfmt-ignore
  assert.deepEqual((await list(browser)).map(({ currency }: { currency: string }) => currency), ['EUR', 'GBP', 'INR', 'USD']) // oxfmt-ignore

  const seal = payoutSeal(shop.config.secrets)
  const kept = await sealedOf(shop, id)
  const opened = Object.fromEntries(kept.map(({ currency, sealed }) => [currency, openDestination(seal, sealed)]))
  assert.deepEqual(opened.EUR, { kind: 'iban', name: 'Ann Müller', country: 'DE', iban: IBAN, bic: 'COBADEFFXXX' })
  assert.deepEqual(opened.INR, { kind: 'india_account', name: 'Asha Rao', country: 'IN', ifsc: 'HDFC0001234', accountNumber: '50100012345678' }) // oxfmt-ignore
  assert.deepEqual(opened.USD, { ...ELSEWHERE, country: 'US' })
  const { rows } = await sql<{ text: string }>`
    select coalesce(string_agg(d::text || encode(d.sealed, 'escape'), ' '), '') as text from payout_details d`.execute(
    shop.db,
  )
  const listed = JSON.stringify(await list(browser))
  for (const secret of [IBAN, '0532013000', 'Müller', '50100012345678', 'AC12345678901', 'asha.rao']) {
    assert(!rows[0]!.text.includes(secret), secret)
    assert(!listed.includes(secret), secret)
  }

  assert.deepEqual(await list(eve.browser), [])
  assertProblem(await eve.browser.call('DELETE', '/api/payout-details/EUR'), 404, 'payout_details_not_found')
  assert.equal((await list(browser)).length, 4)
})

test('every change holds payouts for 72 hours, and a repeat changes nothing', async () => {
  const shop = shared()
  const { browser, email, id } = await newSeller()
  const first = await put(browser, 'EUR', EURO)
  const wait = ({ body }: typeof first) => (Date.parse(body.payableFrom) - Date.parse(body.changedAt)) / 3_600_000
  assert.equal(wait(first), 72)
  await eventually(() => noticesTo(shop, email), (mails) => mails.length === 1) // oxfmt-ignore

  await sql`
    update payout_details set changed_at = changed_at - interval '4 days', payable_from = payable_from - interval '4 days'
    where seller_id = ${id}`.execute(shop.db)
  const repeat = await put(browser, 'EUR', { ...EURO, iban: ` ${IBAN.toLowerCase()} ` })
  assert(Date.parse(repeat.body.payableFrom) < Date.now(), 'what is payable stays payable')
  const other = await put(browser, 'EUR', { ...EURO, iban: OTHER_IBAN, bic: undefined })
  assert.equal(other.body.shown, 'NL … 4300')
  assert(Date.parse(other.body.payableFrom) > Date.now() + 71 * 3_600_000)
  // removing first is no way around it
  assert.equal((await browser.call('DELETE', '/api/payout-details/EUR')).status, 204)
  assertProblem(await browser.call('DELETE', '/api/payout-details/EUR'), 404, 'payout_details_not_found')
  assert(Date.parse((await put(browser, 'EUR', EURO)).body.payableFrom) > Date.now() + 71 * 3_600_000)

  const mails = await eventually(() => noticesTo(shop, email), (all) => all.length === 4) // oxfmt-ignore
  assert(mails.every(({ text }) => !text.includes(IBAN) && !text.includes(OTHER_IBAN) && text.includes('EUR')))
  const { body } = await browser.call('GET', '/api/auth/history')
  const seen = body.items.map((item: any) => [item.what, item.currency])
  assert.deepEqual(seen, [
    ['payout_details_changed', 'EUR'],
    ['payout_details_removed', 'EUR'],
    ['payout_details_changed', 'EUR'],
    ['payout_details_changed', 'EUR'],
  ])
})

test('changes at the same moment come one after the other, and each is mailed', async () => {
  const shop = shared()
  const { browser, email } = await newSeller()
  const ibans = [IBAN, OTHER_IBAN, 'FR1420041010050500013M02606', 'ES9121000418450200051332']
  const answers = await Promise.all(ibans.map((iban) => put(browser, 'EUR', { kind: 'iban', name: 'Ann', iban })))
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200]) // oxfmt-ignore
  assert.equal((await list(browser)).length, 1)
  await eventually(() => noticesTo(shop, email), (mails) => mails.length === 4) // oxfmt-ignore
})

test('details that change all day are refused, so that the mails about them stay few', async () => {
  const shop = shared()
  const { browser, email, id } = await newSeller()
  for (let at = 0; at < 10; at++) {
    assert.equal((await put(browser, 'EUR', EURO)).status, 200)
    assert.equal((await browser.call('DELETE', '/api/payout-details/EUR')).status, 204)
  }
  const refused = await put(browser, 'EUR', EURO)
  assertProblem(refused, 429, 'rate_limited')
  // the first of the twenty was made a moment ago
  const seconds = Number(refused.headers.get('retry-after'))
  assert(seconds > 3600 && seconds <= 86_400, String(seconds))
  assert.equal(refused.headers.get('ratelimit-limit'), '20')
  await eventually(
    () => noticesTo(shop, email),
    (mails) => mails.length === 20,
  )
  await sql`update account_events set at = at - interval '1 day' where seller_id = ${id}`.execute(shop.db)
  assert.equal((await put(browser, 'EUR', EURO)).status, 200)
})

test('the mail about new details goes to the mailbox before too, when the account has moved lately', async () => {
  const shop = shared()
  const { browser, email, id } = await newSeller()
  const moveTo = async (newer: string) => {
    await browser.call('POST', '/api/auth/email', { email: newer })
    const code = await browser.codeFor(newer)
    assert.equal((await browser.call('POST', '/api/auth/email/verify', { code })).status, 200)
  }
  const newest = newMailbox()
  await moveTo(newest)
  assert.equal((await put(browser, 'EUR', EURO)).status, 200)
  await eventually(() => noticesTo(shop, email), (mails) => mails.length === 1) // oxfmt-ignore
  await eventually(() => noticesTo(shop, newest), (mails) => mails.length === 1) // oxfmt-ignore

  await sql`update account_events set at = at - interval '31 days' where seller_id = ${id}`.execute(shop.db)
  assert.equal((await browser.call('DELETE', '/api/payout-details/EUR')).status, 204)
  await eventually(() => noticesTo(shop, newest), (mails) => mails.length === 2) // oxfmt-ignore
  assert.equal((await noticesTo(shop, email)).length, 1)
})

test('an account whose mailbox nobody has proved takes no payout details', async () => {
  const shop = shared()
  const { browser, id } = await newSeller()
  await sql`update sellers set email_proven_at = null where id = ${id}`.execute(shop.db)
  assertProblem(await put(browser, 'EUR', EURO), 403, 'recent_sign_in_required')
  assert.deepEqual(await list(browser), [])
})

test('details that an earlier release took with a replaced code of a country are shown and paid', async (t) => {
  const shop = await startTestShop(t, MANUAL)
  const seller = await dueSeller(shop)
  const sealed = sealDestination(payoutSeal(shop.config.secrets), { ...ELSEWHERE, kind: 'other', country: 'UK' })
  await sql`
    update payout_details set country = 'UK', sealed = ${sealed} where seller_id = ${seller.sellerId}`.execute(shop.db)
  assert.equal((await list(seller.browser))[0].country, 'UK')
  const operator = await operatorOf(shop)
  const { runId, payoutId } = await runs(operator).send(seller)
  assert.match((await runs(operator).file(runId)).body, /AC12345678901/)
  assert.equal((await runs(operator).mark(payoutId, 'paid')).status, 200)
})

test('a new secret opens what the old one sealed: details, payouts and bank files', async (t) => {
  const first = await startTestShop(t, MANUAL)
  const seller = await dueSeller(first)
  await seller.details('EUR')
  const operator = await operatorOf(first)
  const { runId, payoutId } = await runs(operator).send(seller)
  const { body: content } = await runs(operator).file(runId)
  assert.match(content, /First Bank of Springfield/)

  const newer = 'another secret of the tests that is long enough'
  const both = `${newer},${first.config.secrets[0]}`
  const second = await startTestShop(t, { databaseUrl: first.databaseUrl, env: { ...MANUAL.env, SECRET: both } })
  const [ofNewer, ofFirst] = [payoutSeal([newer]), payoutSeal(first.config.secrets)]
  const kept = await sealedOf(first, seller.sellerId)
  assert.equal(kept.length, 2)
  for (const { sealed } of kept) {
    assert.equal(openDestination(ofFirst, sealed), undefined)
    assert.notEqual(openDestination(ofNewer, sealed), undefined)
  }
  const { rows } = await sql<{ destination: Buffer }>`
    select destination from payouts where id = ${payoutId}`.execute(first.db)
  assert.equal(openDestination(ofFirst, rows[0]!.destination), undefined)
  assert.equal(openDestination(ofNewer, rows[0]!.destination)?.kind, 'other')

  await Promise.all([first.close(), second.close()])
  const third = await startTestShop(t, { databaseUrl: first.databaseUrl, env: { ...MANUAL.env, SECRET: newer } })
  assert.equal((await runs(await operatorOf(third)).file(runId)).body, content)
})
