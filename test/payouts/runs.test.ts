import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { connect } from '../../src/kit/database.ts'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { proposeRun } from '../../src/payouts/runs.ts'
import { operatorOf, logOf } from '../operator/support.ts'
import { query, times } from '../stand-ins/processor.ts'
import { assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'
import { MANUAL, disputed, dueSeller, lineOf, newPaidSeller, payoutEntries, refundedInFull, runs } from './support.ts'

// Runs of payouts: proposed, approved once, and never for more than is due.

const shared = sharedShop(MANUAL)

const booksAgree = async () =>
  assert.deepEqual(await shared().db.transaction().execute((tx) => trialBalance(tx)), []) // oxfmt-ignore

test('a run that does not exist, or is decided, is refused', async () => {
  const operator = await operatorOf(shared())
  const { approve, cancel, propose } = runs(operator)
  const unknown = 'run_00000000000000000000000000'
  for (const answer of [await approve(unknown), await cancel(unknown)]) assertProblem(answer, 404, 'run_not_found')
  assertProblem(await operator.call('GET', `/api/operator/payout-runs/${unknown}`), 404, 'run_not_found')
  assertProblem(await approve('run_x'), 404, 'run_not_found')
  await dueSeller(shared())
  const { runId } = await propose()
  assert.equal((await cancel(runId)).body.state, 'cancelled')
  for (const answer of [await approve(runId), await cancel(runId)]) assertProblem(answer, 409, 'run_not_proposed')
})

test('a run says who would get how much and why others would not, and reserves nothing', async () => {
  const shop = shared()
  const paid = await dueSeller(shop)
  const [small, nowhere, changed, suspended, owing, unsold] = await times(6, () => newPaidSeller(shop))
  await small!.sell(400)
  await small!.details()
  await nowhere!.sell(1900)
  await nowhere!.sell(1900, 'KWD')
  await changed!.sell(1900)
  await changed!.details('USD', true)
  await suspended!.sell(1900)
  await suspended!.details()
  const operator = await operatorOf(shop)
  await operator.call('PUT', `/api/operator/sellers/${suspended!.sellerId}/suspension`)
  await operator.call('POST', `/api/operator/sellers/${owing!.sellerId}/adjustments`, { amount: 1000, currency: 'USD', reason: 'A welcome.' }) // oxfmt-ignore
  await operator.call('POST', `/api/operator/sellers/${owing!.sellerId}/adjustments`, { amount: -1500, currency: 'USD', reason: 'Taken back.' }) // oxfmt-ignore
  await unsold!.details()
  const run = await runs(operator).propose()
  const why = (one: { sellerId: string } | undefined, currency = 'USD') => {
    const line = lineOf(run, one!.sellerId, currency)
    return line && [line.amount, line.blocked]
  }
  assert.deepEqual(why(paid), [1862, null])
  assert.deepEqual(why(small), [392, 'below_minimum'])
  assert.deepEqual(why(nowhere), [1862, 'no_details'])
  assert.deepEqual(why(nowhere, 'KWD'), [1862, 'no_details'])
  assert.deepEqual(why(changed), [1862, 'details_changed'])
  assert.deepEqual(why(suspended), [1862, 'suspended'])
  assert.deepEqual(why(owing), [-500, 'negative_balance'])
  assert.equal(why(unsold), undefined)
  assert.match(lineOf(run, paid.sellerId).destination, /^US … /)
  assert.deepEqual(await payoutEntries(shop, paid.sellerId), [])
  assert.deepEqual(await paid.balance(), { balance: 1862, available: 1862, pending: 0, onTheWay: 0 })
})

test('an approval makes the payouts and reserves their money in the books, with an entry in the log', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operator = await operatorOf(shop)
  const { propose, approve } = runs(operator)
  const { runId } = await propose()
  const { body: run } = await approve(runId)
  assert.equal(run.state, 'approved')
  const { payout } = lineOf(run, seller.sellerId)
  assert.deepEqual([payout.amount, payout.status], [1862, 'approved'])
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [{ kind: 'payout', amountMinor: 1862 }])
  assert.deepEqual(await seller.balance(), { balance: 0, available: 0, pending: 0, onTheWay: 1862 })
  const entry = (await logOf(operator, runId)).find(({ action }) => action === 'payout_run_approved')
  assert.equal((entry!.detail as { payouts: number }).payouts >= 1, true)
  const { items } = (await operator.call('GET', `/api/operator/payouts?sellerId=${seller.sellerId}`)).body
  assert.deepEqual([items.length, items[0].payoutId, items[0].exported], [1, payout.payoutId, false])
  assert.match(items[0].reference, /^PO[0-9A-Z]{26}$/)
  const transfers = (await seller.browser.call('GET', '/api/transfers')).body.items
  assert.deepEqual([transfers[0].kind, transfers[0].amount, transfers[0].payoutId, transfers[0].balance], ['payout', -1862, payout.payoutId, 0]) // oxfmt-ignore
  await booksAgree()
})

test('ten approvals of one run at once, by two operators, pay once', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operators = [await operatorOf(shop), await operatorOf(shop)]
  const { runId } = await runs(operators[0]!).propose()
  const answers = await times(10, (at) => runs(operators[at % 2]!).approve(runId))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)])
  for (const answer of answers.filter(({ status }) => status === 409)) assertProblem(answer, 409, 'run_not_proposed')
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [{ kind: 'payout', amountMinor: 1862 }])
})

test('runs that were proposed side by side and are approved at once pay each seller once', async () => {
  const shop = shared()
  const sellers = await times(3, () => dueSeller(shop))
  const operator = await operatorOf(shop)
  const { propose, approve } = runs(operator)
  const proposed = await times(4, () => propose())
  const answers = await Promise.all(proposed.map(({ runId }) => approve(runId)))
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200]) // oxfmt-ignore
  for (const seller of sellers) {
    assert.deepEqual(await payoutEntries(shop, seller.sellerId), [{ kind: 'payout', amountMinor: 1862 }])
    assert.equal((await seller.balance()).balance, 0)
  }
  await booksAgree()
})

test('what happens between proposal and approval is counted: refund, dispute, suspension, other details, a new sale', async () => {
  const shop = shared()
  const [refunded, partly, isDisputed, suspended, moved, removed, sold] = await times(7, () => dueSeller(shop))
  await partly!.sell(1000)
  const operator = await operatorOf(shop)
  const { propose, approve } = runs(operator)
  const run = await propose()
  await refundedInFull(shop, refunded!, refunded!.orderId)
  await refundedInFull(shop, partly!, partly!.orderId)
  await disputed(shop, isDisputed!.orderId)
  await operator.call('PUT', `/api/operator/sellers/${suspended!.sellerId}/suspension`)
  await moved!.browser.call('PUT', '/api/payout-details/USD', { kind: 'other', name: 'A thief', country: 'US', lines: ['Another bank', 'Account 99999999'] }) // oxfmt-ignore
  await removed!.browser.call('DELETE', '/api/payout-details/USD')
  await sold!.sell(5000)
  const { body: approved } = await approve(run.runId)
  for (const one of [refunded, isDisputed, suspended, moved, removed])
    assert.deepEqual([lineOf(approved, one!.sellerId).blocked, lineOf(approved, one!.sellerId).payout], [null, null])
  assert.equal(lineOf(approved, partly!.sellerId).payout.amount, 980)
  // nobody gets more than the operator has seen
  assert.equal(lineOf(approved, sold!.sellerId).payout.amount, 1862)
  assert.equal((await sold!.balance()).balance, 4900)
  await booksAgree()
})

test('with a minimum of 0 a run is approved although a refund or another run has left a seller nothing', async (t) => {
  const shop = await startTestShop(t, { env: { ...MANUAL.env, PAYOUT_MINIMUM: '0 USD' } })
  const [refunded, paid] = await times(2, () => dueSeller(shop))
  const { propose, approve } = runs(await operatorOf(shop))
  const [one, other] = [await propose(), await propose()]
  await refundedInFull(shop, refunded!, refunded!.orderId)
  for (const { runId } of [one, other]) assert.equal((await approve(runId)).status, 200)
  assert.deepEqual(await payoutEntries(shop, refunded!.sellerId), [])
  assert.deepEqual(await payoutEntries(shop, paid!.sellerId), [{ kind: 'payout', amountMinor: 1862 }])
})

test('a seller who owes after a payout is shown so, and the next sales make up for it first', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operator = await operatorOf(shop)
  await runs(operator).pay(seller)
  await refundedInFull(shop, seller, seller.orderId)
  assert.deepEqual(await seller.balance(), { balance: -1862, available: -1862, pending: 0, onTheWay: 1862 })
  const owing = await runs(operator).propose()
  assert.deepEqual([lineOf(owing, seller.sellerId).amount, lineOf(owing, seller.sellerId).blocked], [-1862, 'negative_balance']) // oxfmt-ignore
  await seller.sell(4000)
  const { amount } = await runs(operator).pay(seller)
  assert.equal(amount, 3920 - 1862)
})

test('a line says what its seller owes in another currency, and stands before larger ones', async () => {
  const shop = shared()
  const [owing, rich] = [await dueSeller(shop), await dueSeller(shop, 9000)]
  const operator = await operatorOf(shop)
  const adjust = (amount: number, currency: string) =>
    operator.call('POST', `/api/operator/sellers/${owing.sellerId}/adjustments`, { amount, currency, reason: 'A chargeback.' }) // oxfmt-ignore
  for (const amount of [700, -5000]) assert.equal((await adjust(amount, 'EUR')).status, 201)
  const run = await runs(operator).propose()
  const paid = lineOf(run, owing.sellerId)
  assert.deepEqual([paid.amount, paid.blocked, paid.owes], [1862, null, [{ currency: 'EUR', amount: 4300 }]])
  assert.deepEqual(lineOf(run, owing.sellerId, 'EUR').owes, [])
  assert.deepEqual(lineOf(run, rich.sellerId).owes, [])
  assert.equal(run.lines[0].sellerId, owing.sellerId)
  assert.deepEqual(lineOf((await runs(operator).approve(run.runId)).body, owing.sellerId).owes, paid.owes)
})

test('a seller whose pending sales cover what has gone out does not owe, and a debt is the balance', async () => {
  const shop = shared()
  const seller = await newPaidSeller(shop)
  await seller.details()
  const operator = await operatorOf(shop)
  const adjust = (amount: number, currency: string) =>
    operator.call('POST', `/api/operator/sellers/${seller.sellerId}/adjustments`, { amount, currency, reason: 'Corrected.' }) // oxfmt-ignore
  await seller.sell(5000, 'EUR')
  await seller.sell(1000, 'GBP')
  for (const [amount, currency] of [
    [700, 'USD'],
    [-2000, 'EUR'],
    [-3000, 'GBP'],
  ] as const)
    // oxfmt-ignore
    assert.equal((await adjust(amount, currency)).status, 201)
  const runId = (await proposeRun(shop.db, { holdDays: 7, minimumMinor: {} }, { by: 'machine' }))!
  // a later sale does not change what the run says
  await seller.sell(9000, 'GBP')
  const run = await runs(operator).get(runId)
  const lines = ['USD', 'EUR', 'GBP'].map((currency) => lineOf(run, seller.sellerId, currency))
  assert.deepEqual(lines.map(({ amount, blocked, balance }) => [amount, blocked, balance]), [[700, null, undefined], [-2000, 'negative_balance', 2900], [-3000, 'negative_balance', -2020]]) // oxfmt-ignore
  assert.deepEqual(lines.map(({ owes }) => owes), [[{ currency: 'GBP', amount: 2020 }], [], []]) // oxfmt-ignore
})

test('an approval that is killed in the middle has paid nobody, and the next one pays', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operator = await operatorOf(shop)
  const { propose, approve } = runs(operator)
  const { runId } = await propose()
  // a lock on the seller stops the approval after it has marked the run
  const { db, close } = connect({ connectionString: shop.databaseUrl }, { connections: 1, patient: true }) // oxfmt-ignore
  let killed: Promise<{ status: number }>
  await db.transaction().execute(async (tx) => {
    await sql`select 1 from sellers where id = ${seller.sellerId} for update`.execute(tx)
    killed = approve(runId)
    const [waiting] = await eventually(
      () => query<{ pid: number }>(shop.db, sql`
        select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like '%order by id for no key update%'`), // oxfmt-ignore
      (rows) => rows.length === 1,
    )
    await sql`select pg_terminate_backend(${waiting!.pid})`.execute(shop.db)
    assert.notEqual((await killed).status, 200)
  })
  await close()
  assert.equal((await runs(operator).get(runId)).state, 'proposed')
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [])
  const { body: run } = await approve(runId)
  assert.equal(lineOf(run, seller.sellerId).payout.amount, 1862)
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [{ kind: 'payout', amountMinor: 1862 }])
})

test('lists come in pages, the newest first', async () => {
  const shop = shared()
  await dueSeller(shop)
  const operator = await operatorOf(shop)
  const made = []
  for (let i = 0; i < 3; i++) made.unshift((await runs(operator).propose()).runId)
  const first = (await operator.call('GET', '/api/operator/payout-runs?limit=2')).body
  const second = (await operator.call('GET', `/api/operator/payout-runs?limit=1&cursor=${first.nextCursor}`)).body
  assert.deepEqual([...first.items, ...second.items].map(({ runId }) => runId), made) // oxfmt-ignore
  assertProblem(await operator.call('GET', '/api/operator/payouts?cursor=x'), 400, 'validation_failed')
  assertProblem(await operator.call('GET', '/api/operator/payouts?status=lost'), 400, 'validation_failed')
})
