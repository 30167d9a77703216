import fs from 'node:fs/promises'
import path from 'node:path'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { SIZES, expect, expectFine, test } from './fixtures.ts'
import { askCode, codeField, codeFor, mailsTo, newSellerEmail } from './seller.ts'
import { startService, type Service } from './service.ts'

const OPERATOR = 'ann@operator.test'

// One service for all of these, because each start makes a database. One run pays all sellers, so one test follows the other.
test.describe.configure({ mode: 'serial' })

let service: Service
let database: pg.Client
test.beforeAll(async () => {
  service = await startService({ OPERATORS: OPERATOR, PAYOUT_HOLD_DAYS: '0', PAYOUT_MINIMUM: '20 USD' })
  database = new pg.Client({ connectionString: findEmbedded(path.join(service.dataDir, 'postgres')) })
  await database.connect()
})
test.afterAll(async () => {
  await database?.end()
  await service?.stop()
})
test.beforeEach(({ watch }) => watch.allow(service.url))

let codes = 0
async function signInAsOperator(page: Page): Promise<void> {
  await page.goto(`${service.url}/sign-in/?returnTo=/operator/`)
  await askCode(page, OPERATOR)
  await codeField(page).fill(await codeFor(page, OPERATOR, (codes += 1), service.url))
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
}

/** A seller's browser, with the page Money open. */
async function newSeller(page: Page): Promise<string> {
  const email = newSellerEmail()
  await page.goto(`${service.url}/sign-in/`)
  await askCode(page, email)
  await codeField(page).fill(await codeFor(page, email, 1, service.url))
  await expect(page).toHaveURL(/\/(shop|account)\//)
  await page.goto(`${service.url}/shop/#/money`)
  await expect(page.getByText('No money has moved yet.')).toBeVisible()
  return email
}

/** A sale to the seller of this browser. */
async function sell(page: Page, amount: number): Promise<void> {
  const { request } = page.context()
  const headers = { origin: service.url }
  const data = { name: 'Field recordings', amount, currency: 'USD', status: 'draft' }
  const product = await (await request.post(`${service.url}/api/products`, { data, headers })).json()
  await request.post(`${service.url}/api/products/${product.id}/files?name=a.txt`, { data: 'a song', headers: { ...headers, 'content-type': 'text/plain' } }) // oxfmt-ignore
  await request.patch(`${service.url}/api/products/${product.id}`, { data: { status: 'active' }, headers })
  const made = await request.post(`${service.url}/api/checkout`, { data: { productId: product.id, email: 'bob@example.com' } }) // oxfmt-ignore
  const order = await made.json()
  await request.post(`${service.url}/api/sandbox/confirm`, { data: { clientSecret: order.clientSecret, rail: 'card', scenario: 'success' } }) // oxfmt-ignore
  const status = async () =>
    (await (await request.get(`${service.url}/api/checkout/${order.orderId}/status`)).json()).paid
  await expect.poll(status).toBe(true)
}

const dialog = (page: Page) => page.getByRole('dialog')
const confirm = (page: Page, name: string | RegExp) => dialog(page).getByRole('button', { name }).click()

test.describe('on a phone', () => {
  test.use(SIZES.phone)

  test('a seller enters an account, sells, is paid by a run, and downloads the statement', async ({
    page,
    browser,
  }) => {
    const context = await browser.newContext({ ...SIZES.phone, baseURL: service.url, acceptDownloads: true })
    const shop = await context.newPage()
    const email = await newSeller(shop)
    await expectFine(shop, 'Money without any')

    await shop.getByRole('button', { name: 'Add an account' }).click()
    await shop.getByLabel('Currency').selectOption('USD')
    await shop.getByRole('radio', { name: 'Another account' }).check()
    await shop.getByRole('button', { name: 'Save' }).click()
    await expect(shop.getByText('Please choose the country of the account.')).toBeVisible()
    await expectFine(shop, 'payout details with faults')
    await shop.getByLabel('Account holder').fill('Ann Example')
    await shop.getByLabel('Country of the account').selectOption('US')
    await shop.getByLabel('What a bank needs to pay you').fill('First Bank of Springfield\nAccount 12345678')
    await shop.getByRole('button', { name: 'Save' }).click()
    await expect(shop.getByText(/^Saved\. Payouts in USD go there from/)).toBeVisible()
    await expect(shop.getByText('US … 5678')).toBeVisible()
    await expectFine(shop, 'payout details that are held')

    await sell(shop, 1900)
    await shop.reload()
    await expect(shop.getByText('Below the smallest payout')).toBeVisible()
    await sell(shop, 10_000)
    await shop.reload()
    await expect(shop.getByText('$116.62', { exact: true }).first()).toBeVisible()
    // the 72 hours after a change of details
    await database.query(`update payout_details set payable_from = now() - interval '1 hour'`)
    await shop.reload()
    await expect(shop.getByText(/^\$116\.62 around /)).toBeVisible()
    await expectFine(shop, 'Money with a balance')
    // the same account again is not held anew
    await shop.getByRole('button', { name: 'Change the account for USD' }).click()
    await shop.getByRole('radio', { name: 'Another account' }).check()
    await shop.getByLabel('Account holder').fill('Ann Example')
    await shop.getByLabel('Country of the account').selectOption('US')
    await shop.getByLabel('What a bank needs to pay you').fill('First Bank of Springfield\nAccount 12345678')
    await shop.getByRole('button', { name: 'Save' }).click()
    await expect(shop.getByText('Saved. Payouts in USD go there.', { exact: true })).toBeVisible()

    await signInAsOperator(page)
    await page.getByRole('link', { name: 'Payouts' }).click()
    await page.getByRole('button', { name: 'Propose a run' }).click()
    await expectFine(page, 'proposing a run')
    await confirm(page, 'Propose a run')
    await expect(page.getByRole('heading', { name: 'Would be paid' })).toBeVisible()
    await expect(page.getByText('US … 5678').first()).toBeVisible()
    await expectFine(page, 'a run that waits')
    await page.getByRole('button', { name: 'Leave out: $116.62 to New seller' }).first().click()
    await expectFine(page, 'leaving a seller out')
    await confirm(page, 'Leave out')
    await expect(page.getByText(/^Left out by an operator/).first()).toBeVisible()
    await page.getByRole('button', { name: 'Take in again: $116.62 to New seller' }).click()
    await confirm(page, 'Take in again')
    await expect(page.getByText(/^Left out by an operator/)).toHaveCount(0)
    // another operator leaves the seller out meanwhile
    await page.getByRole('button', { name: /^Approve \$/ }).click()
    const run = `${service.url}/api/operator/payout-runs/${/run_\w+/.exec(page.url())![0]}`
    const { seller } = await (await context.request.get(`${service.url}/api/auth/session`)).json()
    const line = `${run}/left-out/${seller.id}/USD`
    const byOther = { headers: { origin: service.url } }
    expect((await page.request.put(line, byOther)).ok()).toBe(true)
    await confirm(page, /^Approve \$/)
    await expect(dialog(page).getByRole('alert')).toContainText('left out of the run or taken in')
    await expectFine(page, 'a run that has changed')
    await confirm(page, 'Cancel')
    await expect(page.getByText(/^Left out by an operator/).first()).toBeVisible()
    await page.getByRole('button', { name: 'Take in again: $116.62 to New seller' }).click()
    await confirm(page, 'Take in again')
    await page.getByRole('button', { name: /^Approve \$/ }).click()
    await confirm(page, /^Approve \$/)
    await expect(page.getByRole('heading', { name: 'Files for your bank' })).toBeVisible()
    await page.getByRole('button', { name: 'Mark USD as sent' }).click()
    await confirm(page, 'Mark USD as sent')
    await expect(dialog(page).getByRole('alert')).toContainText('bank file')
    await confirm(page, 'Cancel')
    const file = page.waitForEvent('download')
    await page.getByRole('button', { name: /^Download the file for USD/ }).click()
    const csv = await fs.readFile(await (await file).path(), 'utf8')
    expect(csv).toContain('12345678')
    await expect(page.getByText(/each download is the same file/)).toBeVisible()
    await expectFine(page, 'a run with its files')
    await page.getByRole('button', { name: 'Mark USD as sent' }).click()
    await confirm(page, 'Mark USD as sent')
    await expect(page.getByText(/^USD/).first()).toBeVisible()
    await expect(page.getByRole('button', { name: 'Mark USD as sent' })).toHaveCount(0)

    await shop.reload()
    const paid = shop.getByRole('list', { name: 'Payouts, the newest first' })
    await expect(paid.getByText('On its way')).toBeVisible()
    await paid.getByRole('link', { name: '$116.62' }).click()
    await expect(shop.getByRole('heading', { name: 'What it is made of' })).toBeVisible()
    await expect(shop.getByText('2 orders')).toBeVisible()
    await expectFine(shop, 'a payout')
    for (const [name, begin] of [
      ['Statement as PDF', '%PDF-1.7'],
      ['Download as CSV', '\ufeffpayout_id'],
    ] as const) {
      const download = shop.waitForEvent('download')
      await shop.getByRole('link', { name }).click()
      expect((await fs.readFile(await (await download).path(), 'utf8')).startsWith(begin), name).toBe(true)
    }
    const subjects = async () => (await mailsTo(context, email, service.url)).map(({ subject }) => subject)
    await expect.poll(subjects).toContain('$116.62 is on its way to you')
    await context.close()
  })

  test('a statement of the bank says line by line what it did, and is read once', async ({ page }) => {
    const { rows } = await database.query<{ reference: string }>(`select reference from payouts where state = 'sent' order by created_at desc limit 1`) // oxfmt-ignore
    const lines = [
      'reference,amount,currency,status,bookedOn,reason',
      `${rows[0]!.reference},1.00,USD,booked,2026-11-23,`,
      `PO00000000000000000000000000,5.00,USD,booked,2026-11-23,at the bank`,
    ]
    const file = { name: 'statement.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n')) }
    await signInAsOperator(page)
    await page.goto(`${service.url}/operator/#/payouts`)
    await page.getByLabel('Statement of your bank').setInputFiles({ ...file, buffer: Buffer.from('not a statement') })
    await expect(page.getByRole('alert')).toBeVisible()
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/api/operator/payouts/statement', async (route) => {
      asked.resolve()
      await answered.promise
      await route.continue()
    })
    const input = page.getByLabel('Statement of your bank')
    await input.focus()
    await input.setInputFiles(file)
    await asked.promise
    await expect(input).toBeDisabled()
    answered.resolve()
    await expect(page.getByText('statement.csv: 2 lines about payouts')).toBeVisible()
    await expect(input).toBeFocused()
    await expect(page.getByText('Other amount')).toBeVisible()
    await expect(page.getByText('Not found', { exact: true })).toBeVisible()
    await expectFine(page, 'a statement that was read')
    await page.getByLabel('Statement of your bank').setInputFiles(file)
    await expect(page.getByRole('alert')).toBeVisible()
  })

  test('the operator notes what the bank refused, the seller reads why, and the balance is adjusted', async ({
    page,
  }) => {
    await signInAsOperator(page)
    await page.goto(`${service.url}/operator/#/payouts?status=sent`)
    await page
      .getByRole('link', { name: /^\$116\.62 to / })
      .first()
      .click()
    await expect(page.getByRole('heading', { name: 'What you can do' })).toBeVisible()
    await expectFine(page, 'a payout that is sent')
    await page.getByRole('button', { name: 'The bank refused it' }).click()
    await dialog(page).getByLabel('Reason').fill('The account is closed')
    await expectFine(page, 'a refused payout')
    await confirm(page, 'The bank refused it')
    await expect(page.locator('.head').getByText('Failed')).toBeVisible()
    await expect(page.getByText('The account is closed').first()).toBeVisible()
    await page.getByRole('button', { name: 'The account is right' }).click()
    await expectFine(page, 'the account of a payout')
    await confirm(page, 'The account is right')
    await expect(page.getByText('said that the account of a payout is right')).toBeVisible()
    await expect(page.getByRole('button', { name: 'The account is right' })).toHaveCount(0)

    await page.getByRole('link', { name: 'New seller' }).click()
    await page.getByRole('button', { name: 'Adjust the balance' }).click()
    await dialog(page).getByLabel('Currency').fill('USD')
    await dialog(page).getByLabel('Amount in USD').fill('5')
    await dialog(page).getByRole('radio', { name: 'Take from the seller' }).check()
    await dialog(page).getByLabel('Reason').fill('The bank took a fee')
    await expectFine(page, 'an adjustment')
    await confirm(page, 'Adjust the balance')
    await expect(page.getByText(/adjusted|balance/).first()).toBeVisible()
    await expect(dialog(page)).toHaveCount(0)
    const { rows } = await database.query(
      `select amount_minor::int as minor, reason from adjustments order by created_at desc limit 1`,
    )
    expect(rows).toEqual([{ minor: -500, reason: 'The bank took a fee' }])
  })
})

test('a run of more sellers than the page shows says so, and how to leave out one of the others', async ({ page }) => {
  const run = 'run_00000000000000000000000007'
  await database.query(
    `insert into payout_runs (id, state, cutoff_at, created_by) values ('${run}', 'proposed', now(), 'machine')`,
  )
  await database.query(`
    with many as (
      insert into sellers (id, name, email) select 'sel_' || lpad(n::text, 26, '0'), 'Seller ' || n, n || '@many.example'
      from generate_series(1, 1001) n returning id)
    insert into payout_run_lines (run_id, seller_id, currency, amount_minor) select '${run}', id, 'USD', 5000 from many`)
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/payouts/${run}`)
  await expect(page.getByText('These are the first 1000 of 1001 lines.')).toBeVisible()
  await expect(page.getByText('npm run payouts -- leave-out')).toBeVisible()
})

test('a suspension leads to the approved payouts of the shop, and the run says that the bank file pays it', async ({
  page,
}) => {
  const run = 'run_00000000000000000000000009'
  const seller = 'sel_00000000000000000000000001'
  await database.query(`
    insert into payout_runs (id, state, cutoff_at, created_by, approved_at, approved_by)
    values ('${run}', 'approved', now(), 'machine', now(), 'machine')`)
  await database.query(`
    insert into payout_run_lines (run_id, seller_id, currency, amount_minor) values ('${run}', '${seller}', 'USD', 5000)`)
  await database.query(`
    insert into payouts (id, run_id, seller_id, currency, amount_minor, destination, destination_shown, reference, cutoff_at, hold_days)
    values ('po_00000000000000000000000009', '${run}', '${seller}', 'USD', 5000, '\\x00', 'US … 5678', 'PO00000000000000000000000009', now(), 0)`)
  await signInAsOperator(page)
  await page.goto(`${service.url}/operator/#/payouts/${run}`)
  await expect(page.getByText('US … 5678')).toBeVisible()
  await expect(page.getByText(/suspended/)).toHaveCount(0)
  await page.goto(`${service.url}/operator/#/sellers/${seller}`)
  await page.getByRole('button', { name: 'Suspend' }).click()
  await expectFine(page, 'suspending a seller')
  await dialog(page).getByRole('link', { name: 'approved payouts of this seller' }).click()
  await expect(page.getByRole('link', { name: '$50.00 to Seller 1' })).toHaveCount(1)
  await expect(dialog(page)).toHaveCount(0)
  await page.goBack()
  await page.getByRole('button', { name: 'Suspend' }).click()
  await confirm(page, 'Suspend')
  await expect(page.locator('.head').getByText('Suspended')).toBeVisible()
  await page.goto(`${service.url}/operator/#/payouts/${run}`)
  await expect(page.getByText('The file pays suspended shops: 1 payout.')).toBeVisible()
  await expect(
    page.getByText('The shop is suspended. The bank file pays it unless you choose “Do not pay it”.'),
  ).toBeVisible()
  await expectFine(page, 'a run with a payout to a suspended shop')
})

test('a statement and a bank file have minutes, and lead to the sign-in when the session has ended', async ({
  page,
}) => {
  const run = 'run_00000000000000000000000008'
  await database.query(
    `insert into payout_runs (id, state, cutoff_at, created_by, approved_at, approved_by) values ('${run}', 'approved', now(), 'machine', now(), 'machine')`,
  )
  const file = { currency: 'USD', format: 'csv', payouts: 1, amount: 1, toSuspended: 0, exportedAt: null }
  await page.context().route(`**/api/operator/payout-runs/${run}`, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), files: [file] } })
  })
  await page.addInitScript(() => {
    const limits: number[] = []
    Object.assign(window, { limits })
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    AbortSignal.timeout = (ms) => {
      limits.push(ms)
      return timeout(ms)
    }
  })
  const upload = () =>
    page.getByLabel('Statement of your bank').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('a') }) // oxfmt-ignore
  const download = () => page.getByRole('button', { name: /^Download the file for USD/ }).click()
  for (const [view, begin] of [
    ['', upload],
    [`/${run}`, download],
  ] as const) {
    await signInAsOperator(page)
    await page.goto(`${service.url}/operator/#/payouts${view}`)
    await begin()
    await expect(page.getByRole('alert')).toBeVisible()
    const limits = await page.evaluate(() => (window as unknown as { limits: number[] }).limits)
    expect(Math.max(...limits), view).toBe(300_000)
    await page.context().clearCookies()
    await begin()
    await expect(page).toHaveURL(/\/sign-in\//)
    // the next sign-in leads to the overview, not back to this view
    await page.evaluate(() => sessionStorage.clear())
  }
})
