import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { codeOf } from '../../src/buyers/mailbox-codes.ts'
import { hashOf } from '../../src/kit/tokens.ts'
import { type Browser, newBrowser } from './seller.ts'
import { type Answer, SECRET, type TestShop, eventually } from './shop.ts'

/** The text that a buyer types of a line on a statement. */
export interface Line {
  descriptor?: unknown
  amount?: unknown
  date?: unknown
}

export const askChargeCode = (browser: Browser, email: unknown, line: Line = { descriptor: 'TILL' }): Promise<Answer> =>
  browser.call('POST', '/api/charges/code', { email, ...line })

export const findCharge = (
  browser: Browser,
  email: unknown,
  code: unknown,
  line: Line = { descriptor: 'TILL' },
): Promise<Answer> => browser.call('POST', '/api/charges/verify', { email, code, ...line })

/** The newest code of a mailbox; the one that `browser` waits for. */
export const mailboxCodeRow = async ({ db }: TestShop, email: string, browser?: Browser) =>
  (
    await sql<{ id: string; wrongTries: number; used: boolean }>`
      select id, wrong_tries as "wrongTries", used_at is not null as used from mailbox_codes
      where email = ${email} and (${browser === undefined} or browser_hash = any(${heldBy(browser)}))
      order by created_at desc limit 1`.execute(db)
  ).rows[0]

/** The cookies of a browser that bind codes to it. */
const heldBy = (browser: Browser | undefined): Buffer[] =>
  ['till_charge_code', 'till_library_code'].flatMap((name) => browser?.jar.value(name) ?? []).map(hashOf)

/** The digits of a mailbox's live code, whether its mail is there or not. */
export async function liveCode(shop: TestShop, email: string, browser?: Browser): Promise<string> {
  const row = await mailboxCodeRow(shop, email, browser)
  assert(row, `no code for ${email}`)
  return codeOf(SECRET, row.id)
}

/** The same, once its mail is there. */
export async function mailedCode(shop: TestShop, email: string): Promise<string> {
  const code = await liveCode(shop, email)
  await eventually(
    () => shop.mails(email),
    (mails) => mails.some(({ subject }) => subject.startsWith(`${code} `)),
  )
  return code
}

/** Finds a charge in a browser of its own, from the code to the response. */
export async function lookUp(shop: TestShop, email: string, line: Line): Promise<Answer> {
  const browser = newBrowser(shop)
  const asked = await askChargeCode(browser, email, line)
  assert.equal(asked.status, 202, JSON.stringify(asked.body))
  const found = await findCharge(browser, email, await liveCode(shop, email), line)
  assert.equal(found.status, 200, JSON.stringify(found.body))
  return found
}

export interface Past {
  name?: string
  priceMinor?: number
  currency?: string
  /** When it was ordered, and paid: days before now, or a time. */
  created?: string
  paid?: string | null
}

/** An order of the past, paid at once by default. */
export async function pastOrder(shop: TestShop, email: string, past: Past = {}): Promise<string> {
  const { created = '2026-03-10T12:00:00Z', paid = created, ...product } = past
  const productId = await shop.product(product)
  const { orderId } = await shop.checkout({ productId, email })
  await sql`
    update orders set created_at = ${created}, paid_at = ${paid}, state = ${paid ? 'paid' : 'pending'} where id = ${orderId}`.execute(
    shop.db,
  )
  return orderId
}
