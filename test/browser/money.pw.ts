import path from 'node:path'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { newId } from '../../src/kit/ids.ts'
import { SIZES, expect, expectFine, test } from './fixtures.ts'
import { signUp } from './seller.ts'

let database: pg.Client
test.beforeAll(async () => {
  database = new pg.Client({ connectionString: findEmbedded(path.join(process.env.SERVICE_DATA_DIR!, 'postgres')) })
  await database.connect()
})
test.afterAll(() => database.end())

/** A seller’s browser, and the seller. */
async function newSeller(page: Page): Promise<string> {
  const email = await signUp(page)
  const { rows } = await database.query<{ id: string }>('select id from sellers where email = $1', [email])
  return rows[0]!.id
}

async function book(sellerId: string, kind: string, cause: string, amount: number, currency = 'EUR'): Promise<void> {
  const other = kind === 'adjustment' ? 'adjustments' : 'payouts'
  const [debit, credit] = amount < 0 ? [`seller:${sellerId}`, other] : [other, `seller:${sellerId}`]
  await database.query(
    `insert into transfers (kind, cause, debit_account, credit_account, amount_minor, currency) values ($1, $2, $3, $4, $5, $6)`,
    [kind, cause, debit, credit, Math.abs(amount), currency],
  )
}

async function adjust(sellerId: string, amount: number, currency = 'EUR', reason = 'A correction'): Promise<void> {
  const id = newId('adj')
  await database.query(
    `insert into adjustments (id, seller_id, currency, amount_minor, reason, created_by) values ($1, $2, $3, $4, $5, 'test')`,
    [id, sellerId, currency, amount, reason],
  )
  await book(sellerId, 'adjustment', id, amount, currency)
}

/** A payout that the bank has refused. */
async function failedPayout(sellerId: string, amount: number): Promise<string> {
  const [runId, id] = [newId('run'), newId('po')]
  await database.query(
    `insert into payout_runs (id, state, cutoff_at, created_by, approved_at, approved_by) values ($1, 'approved', now(), 'test', now(), 'test')`,
    [runId],
  )
  await database.query(
    `insert into payouts (id, run_id, seller_id, currency, amount_minor, destination, destination_shown, reference, cutoff_at, hold_days,
       state, ended_at, failure)
     values ($1, $2, $3, 'EUR', $4, '', 'DE … 3000', $5, now(), 7, 'failed', now(), 'AC04 The account is closed')`,
    [id, runId, sellerId, amount, id.replace('_', '').toUpperCase()],
  )
  await book(sellerId, 'payout', id, -amount)
  await book(sellerId, 'payout_failed', id, amount)
  return id
}

test.describe('on a phone', () => {
  test.use(SIZES.phone)

  test('a balance below zero, a payout that failed and a currency without an account say what helps', async ({
    page,
  }) => {
    const sellerId = await newSeller(page)
    await adjust(sellerId, 5000)
    const payoutId = await failedPayout(sellerId, 5000)
    await adjust(sellerId, -250, 'GBP')
    await page.goto('/shop/#/money')
    await expect(page.getByText('€50.00 has nowhere to go')).toBeVisible()
    await expect(page.getByText('−£2.50').first()).toBeVisible()
    await expect(page.getByText('You owe this. Your next sales make up for it.')).toBeVisible()
    await expect(page.getByText('The amount that can be paid out is below zero', { exact: false })).toBeVisible()
    await page.getByText('What the balance is made of').first().click()
    await expectFine(page, 'Money with a debt')
    await page.getByRole('button', { name: 'Add your payout details' }).click()
    await expect(page.getByRole('heading', { name: 'Where your money goes' })).toBeFocused()

    await page.getByRole('list', { name: 'Payouts, the newest first' }).getByRole('link').click()
    await expect(page).toHaveURL(new RegExp(payoutId))
    await expect(page.getByText('This payout failed')).toBeVisible()
    await expect(page.getByText('AC04 The account is closed', { exact: false })).toBeVisible()
    await expectFine(page, 'a payout that failed')
    await page.getByRole('link', { name: 'Check your payout details' }).click()
    await expect(page.getByRole('heading', { name: 'Money', exact: true })).toBeVisible()
  })

  test('a payout by Razorpay is named as the seller’s bank names it', async ({ page }) => {
    const sellerId = await newSeller(page)
    const id = newId('po')
    await database.query(
      `insert into processor_payouts (id, seller_id, processor, processor_payout_id, currency, amount_minor, state, created_at, paid_at,
           bank_reference)
         values ($1, $2, 'razorpay@acc_0123456789abcd', $3, 'INR', 48902, 'paid', now(), now(), 'HDFCN52026112500000001')`,
      [id, sellerId, `setl_${id.slice(-14)}`],
    )
    await page.goto(`/shop/#/money/payouts/${id}`)
    await expect(page.getByText('UTR at your bank: HDFCN52026112500000001')).toBeVisible()
    await expectFine(page, 'a payout by Razorpay')
  })

  test('an account is entered, its typing error is named, it is changed and removed', async ({ page }) => {
    const sellerId = await newSeller(page)
    await adjust(sellerId, 5000)
    await adjust(sellerId, 90_000, 'INR')
    await page.goto('/shop/#/money')
    await page.getByRole('button', { name: 'Add an account for EUR' }).click()
    await page.getByLabel('Account holder').fill('Ann Müller')
    await page.getByRole('radio', { name: 'Another account' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByLabel('Country of the account')).toBeFocused()
    await expect(page.getByRole('alert').first()).toHaveText('Please choose the country of the account.')
    await expect(page.getByRole('option', { name: 'Germany', exact: true })).toHaveCount(1)
    await page.getByLabel('Country of the account').selectOption('CH')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByLabel('What a bank needs to pay you')).toBeFocused()
    await expect(page.getByRole('alert')).toHaveText('Please enter what a bank needs to pay you.')
    await page.getByRole('radio', { name: 'Account with an IBAN' }).check()
    await page.getByLabel('IBAN', { exact: true }).fill('DE89 3704 0044 0532 0130 01')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('This IBAN has a typing error', { exact: false })).toBeVisible()
    await expect(page.getByLabel('IBAN', { exact: true })).toBeFocused()
    await expectFine(page, 'an IBAN with a typing error')
    await page.getByLabel('IBAN', { exact: true }).fill('DE89 3704 0044 0532 0130 00')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('DE … 3000')).toBeVisible()
    await expect(page.getByRole('heading', { name: 'Where your money goes' })).toBeFocused()
    await expect(page.getByText('Payouts are held until', { exact: false })).toBeVisible()
    await expect(page.getByText('3704')).toHaveCount(0)

    await page.getByRole('button', { name: 'Add an account for INR' }).click()
    await page.getByRole('radio', { name: 'Indian bank account' }).check()
    await page.getByLabel('Account holder').fill('Ann Rao')
    await page.getByLabel('IFSC').fill('HDFC0001234')
    await page.getByLabel('Account number').fill('12')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByLabel('Account number')).toBeFocused()
    await page.getByRole('radio', { name: 'UPI id' }).check()
    await page.getByLabel('UPI id', { exact: true }).last().fill('ann.rao@okbank')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('a…@okbank')).toBeVisible()
    await expectFine(page, 'two accounts')

    await page.getByRole('button', { name: 'Remove the account for EUR' }).click()
    await expectFine(page, 'removing an account')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect(page.getByText('The payout details for EUR are removed.')).toBeVisible()
    await expect(page.getByRole('heading', { name: 'Where your money goes' })).toBeFocused()
    await expect(page.getByRole('button', { name: 'Add an account for EUR' })).toBeVisible()
  })
})

test('what was typed for one currency never changes the account of another, and a changed account is held at once', async ({
  page,
  context,
}) => {
  const sellerId = await newSeller(page)
  for (const currency of ['EUR', 'USD']) {
    await adjust(sellerId, 5000, currency)
    const data = { kind: 'iban', name: 'Ann Müller', iban: 'DE89370400440532013000' }
    const headers = { origin: new URL(page.url()).origin }
    expect((await context.request.put(`/api/payout-details/${currency}`, { data, headers })).ok()).toBe(true)
  }
  await database.query(`update payout_details set payable_from = now() - interval '1 day' where seller_id = $1`, [
    sellerId,
  ])
  await page.goto('/shop/#/money')
  const change = (currency: string) => page.getByRole('button', { name: `Change the account for ${currency}` }).click()
  const form = (currency: string) => page.getByRole('form', { name: `Payout details for ${currency}` })
  const save = async (currency: string, iban: string) => {
    await form(currency).getByLabel('Account holder').fill('Eve Adams')
    await form(currency).getByLabel('IBAN', { exact: true }).fill(iban)
    await form(currency).getByRole('button', { name: 'Save' }).click()
  }
  await change('EUR')
  await save('EUR', 'DE89370400440532013001')
  await expect(page.getByText('This IBAN has a typing error', { exact: false })).toBeVisible()
  await change('USD')
  await expect(form('USD').getByLabel('Account holder')).toHaveValue('')
  await save('USD', 'GB29NWBK60161331926819')
  await expect(page.getByText('GB … 6819')).toBeVisible()
  await expect(page.getByText('DE … 3000')).toBeVisible()
  await expect(page.getByText('Payouts are held until', { exact: false })).toHaveCount(1)

  await change('EUR')
  await save('EUR', 'DE89370400440532013001')
  await expect(page.getByText('This IBAN has a typing error', { exact: false })).toBeVisible()
  await form('EUR').getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('heading', { name: 'Where your money goes' })).toBeFocused()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Change the account for EUR' })).toBeVisible()
})

test('an account is changed only after a sign-in of the last ten minutes, and the form comes back', async ({
  page,
}) => {
  const sellerId = await newSeller(page)
  await adjust(sellerId, 5000)
  await database.query(`update sessions set created_at = now() - interval '11 minutes' where seller_id = $1`, [
    sellerId,
  ])
  await page.goto('/shop/#/money')
  await page.getByRole('button', { name: 'Add an account for EUR' }).click()
  await page.getByLabel('Account holder').fill('Ann Müller')
  await page.getByLabel('IBAN', { exact: true }).fill('DE89370400440532013000')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByRole('button').click()
  await expect(page).toHaveURL(/\/sign-in\//)
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('3704')
  await page.goto('/shop/#/money')
  await expect(page.getByLabel('Account holder')).toHaveValue('Ann Müller')
  await expect(page.getByLabel('IBAN', { exact: true })).toHaveValue('')
})

test('where the processor pays sellers, the page shows the account there, what is missing, and the way on', async ({
  page,
  context,
}) => {
  await newSeller(page)
  const next = { by: 'stripe-connect', schedule: 'weekly', holdDays: 7, runOn: '2026-11-30', items: [] }
  const account = {
    state: 'open',
    missing: ['The number of your bank account'],
    paysOut: false,
    blocksSales: true,
    readAt: null,
  }
  await context.route('**/api/payouts/next', (route) => route.fulfill({ json: next }))
  await context.route('**/api/payouts/account', (route) =>
    route.request().method() === 'GET'
      ? route.fulfill({ json: account })
      : route.fulfill({ json: { url: `${new URL(page.url()).origin}/pricing/` } }),
  )
  await page.goto('/shop/#/money')
  await expect(page.getByText('Your products are not for sale yet')).toBeVisible()
  await expect(page.getByText('The number of your bank account')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Payouts' })).toBeVisible()
  await expect(page.getByText('No money has moved yet.')).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'Where your money goes' })).toHaveCount(0)
  await expectFine(page, 'an account that is not complete')
  await page.getByRole('button', { name: 'Continue at the processor' }).click()
  await expect(page).toHaveURL(/\/pricing\//)
})

test('who has not accepted Razorpay’s terms is led to them, and nothing is sent', async ({ page, context }) => {
  await newSeller(page)
  const next = { by: 'razorpay-route', schedule: 'weekly', holdDays: 7, runOn: '2026-11-30', items: [] }
  const account = { state: 'none', missing: [], paysOut: false, blocksSales: true, readAt: null }
  await context.route('**/api/payouts/next', (route) => route.fulfill({ json: next }))
  const methods: string[] = []
  await context.route('**/api/payouts/account', (route) => {
    const method = route.request().method()
    const isFirst = method !== 'GET' && methods.every((one) => one === 'GET')
    methods.push(method)
    return isFirst
      ? route.fulfill({ status: 403, json: { status: 403, code: 'recent_sign_in_required' } })
      : route.fulfill({ json: account })
  })
  await page.goto('/shop/#/money')
  await page.getByRole('button', { name: 'Open my account' }).click()
  for (const [label, value] of [
    ['Your full name', 'Asha Rao'],
    ['Contact person', 'Asha Rao'],
    ['Phone number', '90000 90000'],
    ['Address', '507, Koramangala 1st block'],
    ['Area or landmark', 'MG Road'],
    ['City', 'Bengaluru'],
    ['State', 'KARNATAKA'],
    ['PIN code', '560 034'],
    ['PAN of the contact person', 'ABCPE1234F'],
    ['Bank account number', '1234 5678 90'],
    ['IFSC', 'HDFC0000317'],
    ['Account holder', 'Asha Rao'],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value)
  // A number of a business is hidden again with its field, and then it is no fault.
  await page.getByLabel('Kind of business').selectOption('proprietorship')
  await page.getByLabel('GST number').fill('wrong')
  await page.getByLabel('PAN of the business').fill('wrong')
  await page.getByLabel('Kind of business').selectOption('individual')
  await page.getByRole('button', { name: 'Send to Razorpay' }).click()
  await expect(page.getByRole('alert')).toHaveText('Without this Razorpay opens no account.')
  await expect(page.getByLabel('I accept the terms of Razorpay')).toBeFocused()
  await expectFine(page, 'terms that are not accepted')
  expect(new Set(methods)).toEqual(new Set(['GET']))
  await page.getByLabel('I accept the terms of Razorpay').check()
  await page.getByRole('button', { name: 'Send to Razorpay' }).click()
  // the sign-in is too old: it is done again beside the form, which keeps what the page must not store
  const tab = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Sign in again in another tab' }).click()
  await expect(await tab).toHaveURL(/\/sign-in\//)
  await (await tab).close()
  await expectFine(page, 'a sign-in that is too old')
  await expect(page.getByLabel('Bank account number')).toHaveValue('1234 5678 90')
  await page.getByRole('button', { name: 'Send to Razorpay' }).click()
  await expect.poll(() => methods.filter((method) => method !== 'GET').length).toBe(2)
})

test('another seller’s payout is not there, and a lost answer can be asked for again', async ({ page, context }) => {
  const other = newId('sel')
  await database.query(`insert into sellers (id, name, email) values ($1, 'Bob', $2)`, [other, `${other}@example.com`])
  const payoutId = await failedPayout(other, 700)
  const sellerId = await newSeller(page)
  await adjust(sellerId, 5000)
  await page.goto(`/shop/#/money/payouts/${payoutId}`)
  await expect(page.getByText('There is no such payout in your shop.')).toBeVisible()
  await expectFine(page, 'a payout of somebody else')
  await context.route('**/api/balance', (route) => route.abort())
  await page.goto('/shop/#/money')
  await expect(page.getByRole('alert')).toBeVisible()
  await context.unroute('**/api/balance')
  await expect(page.getByText('€50.00 has nowhere to go')).toBeVisible()
})
