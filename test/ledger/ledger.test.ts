import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { CURRENCIES } from '../../src/kit/currencies.ts'
import { feeOf, share } from '../../src/kit/money.ts'
import { balance, post } from '../../src/ledger/post.ts'
import {
  DISPUTED,
  FEES,
  SUSPENSE,
  type Transfer,
  disputeHeld,
  disputeLost,
  disputeWon,
  heldTransfers,
  processorAccount,
  refundTransfers,
  returnedTransfers,
  saleTransfers,
  sellerAccount,
  taxAccount,
} from '../../src/ledger/transfers.ts'
import { taxOf } from '../../src/taxes/sale-tax.ts'
import { query, times } from '../stand-ins/processor.ts'
import { SEED, sample } from '../support/seed.ts'
import { sharedShop } from '../support/shop.ts'

const shared = sharedShop()

const amounts = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 999_999_999_999 }))
const currencies = fc.constantFrom(...CURRENCIES)
const of = (amountMinor: number, currency = 'USD', cause = 'sandbox:capture:ch_1') => ({
  cause,
  orderId: 'ord_1',
  sellerId: 'sel_1',
  processor: 'sandbox',
  amountMinor,
  currency,
})

const holds = (transfers: readonly Transfer[], account: string) =>
  transfers.reduce(
    (sum, { debit, credit, amountMinor }) =>
      sum + (credit === account ? amountMinor : 0) - (debit === account ? amountMinor : 0),
    0,
  )
const everybody = (transfers: readonly Transfer[]) =>
  [...new Set(transfers.flatMap(({ debit, credit }) => [debit, credit]))].reduce(
    (sum, account) => sum + holds(transfers, account),
    0,
  )

test('a sale of any amount in any currency: the fee is 2 %, half to even, and with the seller’s share it is the whole', () => {
  fc.assert(
    fc.property(amounts, currencies, (amountMinor, currency) => {
      const feeMinor = feeOf(amountMinor)
      const transfers = saleTransfers({ ...of(amountMinor, currency), feeMinor, taxMinor: 0 })
      const fee = holds(transfers, FEES)
      // two per cent to within half a unit, and exactly a half goes to the even one
      const offTwiceAsFiftieths = BigInt(fee) * 100n - BigInt(amountMinor) * 2n
      assert.ok(offTwiceAsFiftieths >= -50n && offTwiceAsFiftieths <= 50n)
      if (offTwiceAsFiftieths === 50n || offTwiceAsFiftieths === -50n) assert.equal(fee % 2, 0)
      assert.ok(fee >= 0 && fee <= amountMinor)
      assert.equal(fee + holds(transfers, sellerAccount('sel_1')), amountMinor)
      assert.equal(holds(transfers, processorAccount('sandbox')), -amountMinor)
      assert.equal(everybody(transfers), 0)
      assert.ok(transfers.every((one) => one.currency === currency && one.amountMinor > 0))
    }),
    { numRuns: 3000 },
  )
})

test('a sale that goes back in any number of parts returns exactly its fee, and never more on the way', () => {
  const parts = fc.array(fc.record({ share: fc.integer({ min: 1, max: 1000 }), lost: fc.boolean() }), { maxLength: 12 })
  fc.assert(
    fc.property(amounts, parts, fc.boolean(), (saleMinor, shares, overlapping) => {
      const feeMinor = feeOf(saleMinor)
      const taxMinor = taxOf(saleMinor, 19, true, 'EUR')
      const sale = { saleMinor, feeMinor, taxMinor }
      let left = saleMinor
      const transfers = saleTransfers({ ...of(saleMinor), feeMinor, taxMinor })
      const takeBack = (amountMinor: number, lost: boolean, at: number) => {
        const back = {
          ...of(amountMinor, 'USD', `sandbox:refund:re_${at}`),
          ...sale,
          returnedBeforeMinor: saleMinor - left,
        }
        transfers.push(
          ...(lost
            ? [
                ...disputeHeld({ ...back, ofSale: true }),
                ...disputeLost({ ...back, lostMinor: amountMinor, ofSale: true }),
              ]
            : refundTransfers(back)),
        )
        left -= amountMinor
        assert.ok(holds(transfers, FEES) >= 0 && holds(transfers, FEES) <= feeMinor)
        assert.equal(
          holds(transfers, taxAccount('sel_1')),
          taxMinor - share(taxMinor, Math.min(saleMinor - left, saleMinor), saleMinor),
        )
        assert.equal(everybody(transfers), 0)
      }
      for (const [at, { share: part1000, lost }] of shares.entries()) {
        const part = Math.floor((left * part1000) / 1000)
        if (part > 0) takeBack(part, lost, at)
      }
      if (left > 0) takeBack(left, false, shares.length)
      // a bank can take money back that the seller has refunded already: the fee was returned once
      if (overlapping) takeBack(saleMinor, true, shares.length + 1)
      assert.equal(holds(transfers, FEES), 0)
      assert.equal(holds(transfers, DISPUTED), 0)
      assert.equal(holds(transfers, sellerAccount('sel_1')), overlapping ? -saleMinor : 0)
      assert.equal(holds(transfers, processorAccount('sandbox')), overlapping ? saleMinor : 0)
    }),
    { numRuns: 1500 },
  )
})

test('a won dispute changes no balance in the end, and held money leaves as it came', () => {
  fc.assert(
    fc.property(amounts, currencies, fc.boolean(), (amountMinor, currency, ofSale) => {
      const dispute = { ...of(amountMinor, currency, 'sandbox:dispute:dp_1'), ofSale }
      const disputed = [...disputeHeld(dispute), ...disputeWon(dispute)]
      for (const account of [DISPUTED, SUSPENSE, sellerAccount('sel_1')]) assert.equal(holds(disputed, account), 0)
      const money = of(amountMinor, currency)
      const held = [...heldTransfers(money), ...returnedTransfers({ ...money, cause: 'sandbox:refund:re_1' })]
      for (const account of [SUSPENSE, processorAccount('sandbox')]) assert.equal(holds(held, account), 0)
    }),
  )
})

test(`the database takes the same fee as the code, for every amount (seed ${SEED})`, async () => {
  const { db } = shared()
  const chosen = [...Array.from({ length: 5000 }, (_, i) => i + 1), ...sample(amounts, 5000)]
  const rows = await query<{ fee: number }>(
    db,
    sql`select fee_of(a) as fee from unnest(${chosen}::bigint[]) with ordinality as t(a, at) order by at`,
  )
  assert.deepEqual(
    rows.map(({ fee }) => fee),
    chosen.map(feeOf),
  )
})

test('entries of the ledger can be neither changed nor removed in any way', async () => {
  const shop = shared()
  const order = await shop.paid()
  const before = await shop.transfers(order.orderId)
  for (const statement of [
    `update transfers set amount_minor = amount_minor + 1 where order_id = '${order.orderId}'`,
    `update transfers set cause = cause || 'x'`,
    `delete from transfers where order_id = '${order.orderId}'`,
    `delete from transfers`,
    `truncate transfers`,
    `insert into transfers select * from transfers on conflict (kind, cause) do update set amount_minor = 1`,
    `merge into transfers t using (select 1) as one on true when matched then delete`,
  ]) {
    await assert.rejects(sql.raw(statement).execute(shop.db), { code: '23001' }, statement)
  }
  assert.equal(before.length, 2)
  assert.deepEqual(await shop.transfers(order.orderId), before)
})

test('a transfer of zero, of a negative amount, or within one account is refused', async () => {
  const { db } = shared()
  const entry = (change: Partial<Transfer>): Transfer => ({
    ...heldTransfers(of(1))[0]!,
    cause: `odd:${JSON.stringify(change)}`,
    ...change,
  })
  const odd = [
    { amountMinor: 0 },
    { amountMinor: -1 },
    { credit: 'processor:sandbox' },
    { currency: 'usd' },
    { currency: 'US' },
    { kind: 'gift' as never },
  ]
  for (const change of odd) {
    await assert.rejects(
      inTransaction(db, (tx) => post(tx, [entry(change)])),
      { code: '23514' },
      JSON.stringify(change),
    )
  }
  assert.deepEqual(await query(db, sql`select 1 from transfers where cause like 'odd:%'`), [])
})

test('the same entry booked many times at once is booked once, and the first one stays', async () => {
  const { db } = shared()
  const sale = (amountMinor: number) =>
    saleTransfers({ ...of(amountMinor, 'USD', 'test:once'), feeMinor: feeOf(amountMinor), taxMinor: 0 })
  await times(12, (i) => inTransaction(db, (tx) => post(tx, sale(1000 + i))))
  await inTransaction(db, (tx) => post(tx, sale(7)))
  const rows = await query<{ kind: string; minor: number }>(
    db,
    sql`select kind, amount_minor as minor from transfers where cause = 'test:once' order by kind desc`,
  )
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['sale', 'fee'],
  )
  assert.ok(rows[0]!.minor >= 1000)
  assert.equal(rows[1]!.minor, feeOf(rows[0]!.minor), 'a sale and a fee of two different bookings')
})

test(`a balance is always the sum of its entries in that currency, and all balances together are zero (seed ${SEED})`, async () => {
  const { db } = shared()
  const accounts = ['processor:test', 'seller:test', 'fees:test', 'held:test']
  const entries = sample(
    fc.record({
      debit: fc.constantFrom(...accounts),
      credit: fc.constantFrom(...accounts),
      amountMinor: amounts,
      currency: fc.constantFrom('USD', 'JPY', 'KWD'),
    }),
    400,
  )
  const transfers = entries
    .filter(({ debit, credit }) => debit !== credit)
    .map((entry, i): Transfer => ({ kind: 'held', cause: `balance:${i}`, orderId: 'ord_1', ...entry }))
  await Promise.all(
    [transfers.slice(0, 150), transfers.slice(150, 160), transfers.slice(160)].map((some) =>
      inTransaction(db, (tx) => post(tx, some)),
    ),
  )
  for (const currency of ['USD', 'JPY', 'KWD']) {
    let total = 0
    for (const account of accounts) {
      const held = await balance(db, account, currency)
      assert.equal(
        held,
        holds(
          transfers.filter((one) => one.currency === currency),
          account,
        ),
      )
      total += held
    }
    assert.equal(total, 0)
  }
  assert.equal(await balance(db, 'seller:nobody', 'USD'), 0)
})

test('a rolled-back transfer is not booked', async () => {
  const { db } = shared()
  const booked = inTransaction(db, async (tx) => {
    await post(tx, saleTransfers({ ...of(500, 'USD', 'test:undone'), feeMinor: 10, taxMinor: 0 }))
    throw new Error('changed our mind')
  })
  await assert.rejects(booked, /changed our mind/)
  assert.deepEqual(await query(db, sql`select 1 from transfers where cause = 'test:undone'`), [])
})
