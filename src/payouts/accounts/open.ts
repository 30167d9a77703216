import { sql } from 'kysely'
import { type Db, inTransaction } from '../../kit/database.ts'
import { Refusal } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import { errorForLog } from '../../kit/log.ts'
import { DetailsRefused } from '../../processors/api-refusal.ts'
import { ProcessorUnavailable } from '../../processors/refusals.ts'
import type { SellerAccounts } from '../../processors/seller-accounts.ts'
import type { SignedIn } from '../../sellers/sessions.ts'
import { noteToldAccount } from '../details.ts'
import { type AccountParts, store } from './accounts.ts'
import { bankAccountOf } from './bank-account.ts'
import type { Business } from './business-schema.ts'
import { PAYERS } from './payers.ts'

// A seller opens an account: on the processor's own pages, or by details that go to the processor.

const RETRY_AFTER_SECONDS = 5

export interface AccountRow {
  id: string
  account: string | null
  product: string | null
  createdAt: Date
}

/**
 * Returns an address where the seller gives the processor the missing details. The account is made on the first call. The row comes
 * first, and its id is the processor's idempotency key: however often this is repeated or dies in between, the seller gets one account.
 * Refuses `account_by_details`, `account_not_needed`, `account_unavailable`.
 */
export async function openAccount(parts: AccountParts, sellerId: string, pageUrl: string): Promise<string> {
  const { hosted } = accountsAt(parts)
  if (!hosted)
    throw new Refusal(
      'account_by_details',
      'The processor has no page for this: send your details with PUT /api/payouts/account.',
    )
  const row = await rowOf(parts, sellerId)
  try {
    const account = row.account ?? (await makeAccount(parts, row))
    return await hosted.link(account, { refreshUrl: pageUrl, returnUrl: pageUrl })
  } catch (error) {
    throw unavailable(parts, error)
  }
}

/**
 * Sends the details of a seller's business to the processor, where the processor has no pages for them. The account is made on the
 * first call, as with `openAccount`. Nothing of the details is stored or logged here, but the last digits of the bank account: they stand
 * in the mails to the owner, who learns of a change of the bank account before the processor does. Refuses as bankAccountOf(), and
 * `account_details_refused`, `account_unavailable`, `rate_limited`.
 */
export async function tellAccount(
  parts: AccountParts,
  signedIn: SignedIn,
  { account: typed, ifsc, accountNumber, ...business }: Omit<Business, 'acceptsTerms'>,
): Promise<void> {
  const { told } = accountsAt(parts)
  if (!told)
    throw new Refusal(
      'account_by_link',
      'The processor asks you on its own pages: POST /api/payouts/account leads there.',
    )
  const bank = bankAccountOf({ account: typed, ifsc, accountNumber })
  const { id: sellerId, email } = signedIn.seller
  const details = { ...business, ...bank, email }
  const shown = `${bank.ifsc.slice(0, 4)} … ${bank.accountNumber.slice(-4)}`
  const change = { currency: 'INR', shown, by: PAYERS[parts.payer] }
  try {
    const row = await rowOrFormer(parts, sellerId)
    const { id: key, account, product } = row
    let begunAt = new Date()
    const report = await told.tell(
      { key, account: account ?? undefined, product: product ?? undefined, details },
      {
        async begin(sends) {
          await noteToldAccount(parts, signedIn, sends.bank ? change : undefined)
          begunAt = new Date()
        },
        note: (known) => noteMade(parts.db, row, known),
      },
    )
    await store(parts, `${parts.payer}@${report.account}`, report, begunAt)
  } catch (error) {
    if (error instanceof DetailsRefused)
      throw new Refusal('account_details_refused', `The processor does not take these details: ${error.reason}.`)
    throw unavailable(parts, error)
  }
}

/** The error itself, unless the processor failed: then a Refusal. */
function unavailable({ log, payer }: AccountParts, error: unknown): unknown {
  if (!(error instanceof ProcessorUnavailable)) return error
  log.warn({ processor: payer, ...errorForLog(error) }, 'an account of a seller could not be opened')
  return new Refusal(
    'account_unavailable',
    `${PAYERS[payer]} does not answer right now. Nothing is lost: please try again.`,
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    },
  )
}

function accountsAt({ processors, payer }: AccountParts): SellerAccounts {
  const accounts = processors.get(payer)?.accounts
  if (!accounts) throw new Refusal('account_not_needed', 'Sellers of this service need no account at a processor.')
  return accounts
}

async function rowOf({ db, payer }: AccountParts, sellerId: string): Promise<AccountRow> {
  await sql`
    insert into connected_accounts (id, seller_id, processor, due_at)
    values (${newId('con')}, ${sellerId}, ${payer}, now() + interval '2 minutes')
    on conflict (seller_id, processor) where ended_at is null do nothing`.execute(db)
  const { rows } = await sql<AccountRow>`
    select id, account, product, created_at as "createdAt" from connected_accounts
    where seller_id = ${sellerId} and processor = ${payer} and ended_at is null`.execute(db)
  return rows[0]!
}

/**
 * The row of a seller's account. An account that had ended is taken up again where the processor gives access to it again: a second one
 * with the same mailbox would be refused. Otherwise the seller gets a new one, and money that was passed on to the old one stays there.
 */
async function rowOrFormer(parts: AccountParts, sellerId: string): Promise<AccountRow> {
  const { db, payer } = parts
  const row = await rowOf(parts, sellerId)
  if (row.account) return row
  const { rows } = await sql<{ id: string; account: string; product: string | null }>`
    select id, account, product from connected_accounts
    where seller_id = ${sellerId} and processor = ${payer} and account is not null and ended_at is not null
    order by ended_at desc limit 1`.execute(db)
  const former = rows[0]
  if (!former) return row
  const begunAt = new Date()
  const report = await accountsAt(parts).read(former.account, former.product ?? undefined)
  if ('endedWhy' in report) return row
  await inTransaction(db, async (tx) => {
    // another request may have made an account of this row meanwhile: then that one holds
    const { rows: empty } = await sql`
      delete from connected_accounts where id = ${row.id} and account is null returning id`.execute(tx)
    if (empty.length > 0)
      await sql`update connected_accounts set ended_at = null, ended_why = null where id = ${former.id}`.execute(tx)
  })
  // now: the processor can refuse the details of an account that is active
  await store(parts, `${payer}@${former.account}`, report, begunAt)
  return rowOf(parts, sellerId)
}

/** Makes the account where the processor asks on its own pages. Elsewhere it makes nothing: the seller's next details make the account. */
export async function makeAccount(parts: AccountParts, row: AccountRow): Promise<string> {
  const begunAt = new Date()
  const { hosted } = accountsAt(parts)
  if (!hosted) return ''
  const report = await hosted.make({ key: row.id, since: row.createdAt })
  await noteMade(parts.db, row, report)
  await store(parts, `${parts.payer}@${report.account}`, report, begunAt)
  return report.account
}

const noteMade = async (
  db: Db,
  { id }: AccountRow,
  { account, product = undefined }: { account: string; product?: string | undefined },
): Promise<void> => {
  await sql`
    update connected_accounts set account = ${account}, product = coalesce(${product ?? null}, product)
    where id = ${id} and (account is null or account = ${account})`.execute(db)
}
