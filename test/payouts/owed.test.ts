import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { newId } from '../../src/kit/ids.ts'
import { type Owed, owedOf, owedTo } from '../../src/payouts/owed.ts'
import { sharedShop } from '../support/shop.ts'

// Money owed to sellers: the sums of the ledger against a plain reading of the rules.

const shared = sharedShop()
const HOLD_DAYS = 7
const HOURS = HOLD_DAYS * 24

/** Which side of the seller's account an entry is on, and when it counts. */
const KINDS = {
  refund: [-1, 'with the sale'],
  fee_refund: [1, 'with the sale'],
  refund_failed: [1, 'with the sale'],
  fee_again: [-1, 'with the sale'],
  dispute_hold: [-1, 'with the sale'],
  held_loss: [-1, 'with the sale'],
  dispute_release: [1, 'waits itself'],
  dispute_return: [1, 'waits itself'],
  held_loss_back: [1, 'waits itself'],
  payout: [-1, 'at once'],
  payout_failed: [1, 'at once'],
  payout_reversed: [1, 'at once'],
} as const
type Kind = keyof typeof KINDS

interface Entry {
  kind: Kind | 'sale' | 'fee'
  ageHours: number
  minor: number
}

const ages = fc.integer({ min: 0, max: 2 * HOURS })
const minors = fc.integer({ min: 1, max: 10_000 })
/** An order with the entries after its sale, and some payouts. */
const order = fc
  .record({
    saleAge: ages,
    minor: minors,
    isSold: fc.boolean(),
    later: fc.array(fc.record({ kind: fc.constantFrom(...(Object.keys(KINDS) as Kind[])), part: fc.double({ min: 0, max: 1, noNaN: true }), minor: minors }), { maxLength: 4 }), // oxfmt-ignore
  })
  .map(({ saleAge, minor, isSold, later }): Entry[] => [
    ...(isSold ? ([{ kind: 'sale', ageHours: saleAge, minor }, { kind: 'fee', ageHours: saleAge, minor: 1 }] as const) : []), // oxfmt-ignore
    ...later.map(({ kind, part, minor: amount }) => ({ kind, ageHours: Math.floor(saleAge * part), minor: amount })),
  ])

/** When an entry counts, in hours from now: zero or less is now. */
function dueIn({ kind, ageHours }: Entry, saleAge: number | undefined): number {
  if (kind === 'sale' || kind === 'fee' || KINDS[kind][1] === 'waits itself') return HOURS - ageHours
  if (KINDS[kind][1] === 'at once' || saleAge === undefined) return -ageHours
  return Math.max(-ageHours, HOURS - saleAge)
}

const signed = ({ kind, minor }: Entry) => (kind === 'sale' ? minor : kind === 'fee' ? -minor : KINDS[kind][0] * minor)

test('what is available and what is pending follow the rules, for any history of orders', async () => {
  const { db } = shared()
  const histories = fc.sample(fc.array(order, { minLength: 1, maxLength: 6 }), { numRuns: 300, seed: 7 })
  await inTransaction(db, async (tx) => {
    // half an hour from every border, so that the test takes no side at the border itself
    for (const [at, history] of histories.entries()) await book(tx, `sel_${at}`, history, 0.5)
    const { rows } = await sql<{ sellerId: string; balance: number; available: number; payable: number }>`
      select seller_id as "sellerId", balance, available, payable from (${owedTo('all', HOLD_DAYS)}) as o`.execute(tx)
    const bySeller = new Map(rows.map((row) => [row.sellerId, row]))
    for (const [at, history] of histories.entries()) {
      let [balance, available] = [0, 0]
      for (const entries of history) {
        const saleAge = entries.find(({ kind }) => kind === 'sale')?.ageHours
        for (const entry of entries) {
          balance += signed(entry)
          if (dueIn(entry, saleAge) - 0.5 <= 0) available += signed(entry)
        }
      }
      const found = bySeller.get(`sel_${at}`)
      assert.deepEqual(
        found && [found.balance, found.available, found.payable],
        history.every((entries) => entries.length === 0)
          ? undefined
          : [balance, available, Math.min(balance, available)],
        JSON.stringify(history),
      )
      if (!found) continue
      const [one] = (await owedOf(tx, `sel_${at}`, HOLD_DAYS)) as [Owed]
      assert.deepEqual([one.balance, one.available, one.pending], [balance, available, balance - available])
      assert.equal(one.pendingBy.reduce((sum, { amount }) => sum + amount, 0), one.pending) // oxfmt-ignore
      assert.equal(
        Object.values(one.byKind).reduce((sum, minor) => sum + minor, 0),
        balance,
      )
    }
    await sql`rollback`.execute(tx)
  })
})

test('each sum is of one currency and one seller, and of the money that the service owes', async () => {
  const { db } = shared()
  await inTransaction(db, async (tx) => {
    const [ann, bob] = [newId('sel'), newId('sel')]
    await book(tx, ann, [[{ kind: 'sale', ageHours: 1, minor: 500 }]], 0, 'JPY')
    await book(tx, ann, [[{ kind: 'sale', ageHours: 2 * HOURS, minor: 1900 }]], 0, 'USD')
    await book(tx, bob, [[{ kind: 'sale', ageHours: 2 * HOURS, minor: 777 }]], 0, 'USD')
    await sql`insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency) values
      ('sale', 'stripe:capture:direct', 'ord_direct', 'processor:stripe', ${`direct:${ann}`}, 333, 'USD')`.execute(tx)
    const owed = await owedOf(tx, ann, HOLD_DAYS)
    assert.deepEqual(
      owed.map(({ currency, balance, available, pending }) => [currency, balance, available, pending]),
      [
        ['JPY', 500, 0, 500],
        ['USD', 1900, 1900, 0],
      ],
    )
    assert.equal(owed[0]!.pendingBy.length, 1)
    assert.match(owed[0]!.pendingBy[0]!.on, /^\d{4}-\d\d-\d\d$/)
    const { rows } = await sql`
      select * from (${owedTo([ann, bob], HOLD_DAYS)}) as o where currency = 'USD' order by payable`.execute(tx)
    assert.deepEqual(rows, [
      { seller_id: bob, currency: 'USD', balance: 777, available: 777, payable: 777 },
      { seller_id: ann, currency: 'USD', balance: 1900, available: 1900, payable: 1900 },
    ])
    await sql`rollback`.execute(tx)
  })
})

/** Books a history by hand, each entry as long ago as it says. */
async function book(
  tx: Parameters<typeof owedOf>[0],
  sellerId: string,
  history: readonly Entry[][],
  moreHours: number,
  currency = 'USD',
): Promise<void> {
  const rows = history.flatMap((entries) => {
    const orderId = newId('ord')
    return entries.map((entry) => ({ ...entry, orderId: entry.kind.startsWith('payout') ? null : orderId }))
  })
  if (rows.length === 0) return
  const seller = `seller:${sellerId}`
  await sql`
    insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency, created_at)
    select kind, gen_random_uuid()::text, order_id, case when plus then 'other' else ${seller} end,
      case when plus then ${seller} else 'other' end, minor, ${currency}, now() - make_interval(mins => minutes)
    from unnest(${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ orderId }) => orderId)}::text[],
      ${rows.map((entry) => signed(entry) > 0)}::boolean[], ${rows.map(({ minor }) => minor)}::bigint[],
      ${rows.map(({ ageHours }) => Math.round((ageHours + moreHours) * 60))}::int[]) as e(kind, order_id, plus, minor, minutes)`.execute(
    tx,
  )
}
