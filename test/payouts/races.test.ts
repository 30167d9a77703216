import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { payoutSeal } from '../../src/payouts/details.ts'
import { openDestination } from '../../src/payouts/destination.ts'
import { referenceOf } from '../../src/payouts/runs.ts'
import { operatorOf } from '../operator/support.ts'
import { query } from '../stand-ins/processor.ts'
import { eventually, sharedShop } from '../support/shop.ts'
import { IBAN, MANUAL, dueSeller, lineOf, newPaidSeller, payoutEntries, refundedInFull, runs } from './support.ts'

// Requests at the same moment: the second one must find the books as the first one left them.

const shared = sharedShop(MANUAL)

const booksAgree = async () =>
  assert.deepEqual(await shared().db.transaction().execute((tx) => trialBalance(tx)), []) // oxfmt-ignore

/** Waits until another connection waits for a lock that a test holds. */
const someoneWaits = () =>
  eventually(
    () => query(shared().db, sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`), // oxfmt-ignore
    (rows) => rows.length > 0,
  )

test('details that change in the moment of the approval are not paid to, neither the old nor the new ones', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operator = await operatorOf(shop)
  const { propose, approve } = runs(operator)
  const { runId } = await propose()
  let approval: ReturnType<typeof approve> | undefined
  // the change holds the seller's lock when the approval comes, as PUT /api/payout-details does
  await shop.db.transaction().execute(async (tx) => {
    await sql`select 1 from sellers where id = ${seller.sellerId} for no key update`.execute(tx)
    await sql`
      update payout_details set payable_from = now() + interval '72 hours', changed_at = now()
      where seller_id = ${seller.sellerId}`.execute(tx)
    approval = approve(runId)
    await someoneWaits()
  })
  const { status, body } = await approval!
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(lineOf(body, seller.sellerId).payout, null)
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [])
  assert.equal((await seller.balance()).available, 1862)
})

test('many changes of details and approvals at once: what is paid goes where the details were payable', async () => {
  const shop = shared()
  const seller = await newPaidSeller(shop)
  await seller.sell(2000, 'EUR')
  await seller.details('EUR')
  const operator = await operatorOf(shop)
  const { propose, approve } = runs(operator)
  const proposals = [await propose(), await propose(), await propose()]
  const change = (iban: string) =>
    seller.browser.call('PUT', '/api/payout-details/EUR', { kind: 'iban', name: 'Eve', iban })
  await Promise.all([
    ...proposals.map(({ runId }) => approve(runId)),
    change('NL91ABNA0417164300'),
    change('FR1420041010050500013M02606'),
    seller.browser.call('DELETE', '/api/payout-details/EUR'),
  ])
  const paid = await query<{ destination: Buffer }>(shop.db, sql`select destination from payouts where seller_id = ${seller.sellerId}`) // oxfmt-ignore
  assert(paid.length <= 1)
  for (const { destination } of paid) {
    const opened = openDestination(payoutSeal(shop.config.secrets), destination)
    assert(opened?.kind === 'iban' && opened.iban === IBAN, 'details that were changed wait')
  }
  await booksAgree()
})

test('an export and giving up a payout at once: it is in the file, or it has failed, and never both', async () => {
  const shop = shared()
  const operator = await operatorOf(shop)
  const { propose, approve, file, mark } = runs(operator)
  for (let round = 0; round < 6; round++) {
    const sellers = [await dueSeller(shop), await dueSeller(shop)]
    const { runId } = await propose()
    const { body: run } = await approve(runId)
    const payoutId = lineOf(run, sellers[0]!.sellerId).payout.payoutId as string
    const [exported, failed] = await Promise.all([file(runId), mark(payoutId, 'failed'), file(runId)])
    assert.equal(exported.status, 200)
    const isInFile = String(exported.body).includes(referenceOf(payoutId))
    assert.equal(failed.status, isInFile ? 409 : 200, JSON.stringify(failed.body))
    const entries = await payoutEntries(shop, sellers[0]!.sellerId)
    assert.equal(entries.length, isInFile ? 1 : 2)
    assert.equal((await file(runId)).body, exported.body)
  }
  await booksAgree()
})

test('a refund, two runs and a statement at once: no seller gets more than once what is owed', async () => {
  const shop = shared()
  const operator = await operatorOf(shop)
  const { propose, approve, send } = runs(operator)
  const seller = await dueSeller(shop)
  const first = await send(seller)
  const orderId = await seller.sell(1000)
  const [one, two] = [await propose(), await propose()]
  const statement = `reference,amount,currency,status,bookedOn\n${referenceOf(first.payoutId)},18.62,USD,returned,2026-11-24\n`
  const upload = () =>
    operator.call('POST', '/api/operator/payouts/statement', statement, { 'content-type': 'text/csv' })
  await Promise.all([
    refundedInFull(shop, seller, orderId),
    approve(one.runId),
    approve(two.runId),
    upload(),
    upload(),
    upload(),
  ])
  const { balance, onTheWay } = await seller.balance()
  const entries = await payoutEntries(shop, seller.sellerId)
  const out = entries.reduce((sum, { kind, amountMinor }) => sum + (kind === 'payout' ? amountMinor : -amountMinor), 0)
  // one sale of 19.00 less the fee is left, the other went back
  assert.equal(balance + out, 1862)
  assert.equal(onTheWay, out)
  assert(out <= 1862 + 980, JSON.stringify(entries))
  assert.equal(entries.filter(({ kind }) => kind === 'payout_failed').length, 1)
  await booksAgree()
})

test('a payout that came back is paid again once, however many operators propose and approve', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operators = [await operatorOf(shop), await operatorOf(shop)]
  const { send, mark } = runs(operators[0]!)
  const { payoutId } = await send(seller)
  await Promise.all(operators.flatMap((operator) => [runs(operator).mark(payoutId, 'paid'), runs(operator).mark(payoutId, 'paid')])) // oxfmt-ignore
  await Promise.all(operators.map((operator) => runs(operator).mark(payoutId, 'reversed')))
  assert.equal((await seller.balance()).available, 1862)
  await Promise.all(operators.map((operator) => runs(operator).payAgain(payoutId)))
  const proposed = await Promise.all([...operators, ...operators].map((operator) => runs(operator).propose()))
  await Promise.all(proposed.flatMap(({ runId }) => operators.map((operator) => runs(operator).approve(runId))))
  const entries = await payoutEntries(shop, seller.sellerId)
  assert.deepEqual(entries.map(({ kind }) => kind).toSorted(), ['payout', 'payout', 'payout_reversed'])
  const { available, onTheWay } = await seller.balance()
  assert.deepEqual([available, onTheWay], [0, 1862])
  assert.deepEqual((await mark(payoutId, 'reversed')).body, { changed: false })
  await booksAgree()
})
