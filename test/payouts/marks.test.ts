import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { reconcileBooks } from '../../src/payments/reconciliation/reconcile.ts'
import { operatorOf, logOf } from '../operator/support.ts'
import { query, times } from '../stand-ins/processor.ts'
import { assertProblem, sharedShop } from '../support/shop.ts'
import { MANUAL, disputed, dueSeller, lineOf, newPaidSeller, payoutEntries, runs } from './support.ts'

// Tries how payouts end: by bank files, by the bank's statements, and by adjustments.

const shared = sharedShop(MANUAL)

const booksAgree = async () =>
  assert.deepEqual(await shared().db.transaction().execute((tx) => trialBalance(tx)), []) // oxfmt-ignore

test('a bank file is made of an approved run only, and of a currency that it has', async () => {
  await dueSeller(shared())
  const { propose, approve, file, sent } = runs(await operatorOf(shared()))
  assertProblem(await file('run_00000000000000000000000000'), 404, 'run_not_found')
  assertProblem(await sent('run_00000000000000000000000000'), 404, 'run_not_found')
  const { runId } = await propose()
  assertProblem(await file(runId), 409, 'run_not_approved')
  await approve(runId)
  assertProblem(await file(runId, 'EUR'), 409, 'nothing_to_export')
  assertProblem(await file(runId, 'USD', '?format=sepa'), 409, 'nothing_to_export')
  assertProblem(await file(runId, 'usd'), 400, 'validation_failed')
  assertProblem(await file(runId, 'USD', '?format=xml'), 400, 'validation_failed')
})

test('ten exports at once give one file with each payout once, and later ones give the same bytes, also after a failure', async () => {
  const shop = shared()
  const sellers = [await dueSeller(shop), await dueSeller(shop)]
  const operator = await operatorOf(shop)
  const { propose, approve, file, get, sent, mark } = runs(operator)
  const { runId } = await propose()
  const { body: run } = await approve(runId)
  assert.deepEqual(run.files, [
    { currency: 'USD', format: 'csv', payouts: 2, amount: 3724, toSuspended: 0, exportedAt: null },
  ])
  const answers = await times(10, () => file(runId))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1)
  const [{ body: content, headers }] = answers as [(typeof answers)[number]]
  assert.match(headers.get('content-disposition')!, /^attachment; filename="payouts-run_\w+-USD\.csv"$/)
  assert.equal(headers.get('cache-control'), 'no-store')
  const { items } = (await operator.call('GET', `/api/operator/payouts?runId=${runId}`)).body
  for (const { reference, exported } of items) {
    assert.equal(content.split(reference).length, 2, 'each payout is there once')
    assert.equal(exported, true)
  }
  const stored = await query<{ files: number }>(shop.db, sql`select count(*)::int as files from payout_files where run_id = ${runId}`) // oxfmt-ignore
  assert.equal(stored[0]!.files, 1)
  assert.equal((await sent(runId)).body.sent, 2)
  await mark(lineOf(run, sellers[0]!.sellerId).payout.payoutId, 'failed')
  assert.equal((await file(runId)).body, content)
  assert.notEqual((await get(runId)).files[0].exportedAt, null)
  // the file is kept sealed
  const kept = await query<{ content: Buffer }>(shop.db, sql`select content from payout_files where run_id = ${runId}`)
  assert.equal(kept[0]!.content.includes('12345678'), false)
  const notes = (await logOf(operator, runId)).filter(({ action }) => action === 'payout_file_exported')
  assert.equal(notes.length, 11)
})

test('a run says which approved payouts go to shops that were suspended since, until they end or the suspension does', async () => {
  const shop = shared()
  const [seller, other] = [await dueSeller(shop), await dueSeller(shop)]
  const operator = await operatorOf(shop)
  const { propose, approve, get, file, sent, mark } = runs(operator)
  const suspend = (method: 'PUT' | 'DELETE') =>
    operator.call(method, `/api/operator/sellers/${seller.sellerId}/suspension`)
  const { runId } = await propose()
  await approve(runId)
  const { files: before } = await get(runId)
  const shown = async () => {
    const run = await get(runId)
    const { toSuspended, exported, payoutId } = lineOf(run, seller.sellerId).payout
    assert.equal(lineOf(run, other.sellerId).payout.toSuspended, false)
    return { inFile: run.files[0].toSuspended, toSuspended, exported, payoutId }
  }
  const { payoutId } = await shown()
  assert.deepEqual(await shown(), { inFile: 0, toSuspended: false, exported: false, payoutId })
  await suspend('PUT')
  assert.deepEqual(await shown(), { inFile: 1, toSuspended: true, exported: false, payoutId })
  assert.equal((await get(runId)).files[0].payouts, before[0].payouts, 'the file is the same')
  await suspend('DELETE')
  assert.deepEqual(await shown(), { inFile: 0, toSuspended: false, exported: false, payoutId })
  await suspend('PUT')
  await file(runId)
  assert.deepEqual(await shown(), { inFile: 1, toSuspended: true, exported: true, payoutId })
  await sent(runId)
  assert.deepEqual(await shown(), { inFile: 0, toSuspended: false, exported: true, payoutId })
  await mark(payoutId, 'failed')
  assert.equal((await seller.balance()).balance, 1862)
  await booksAgree()
})

test('the overview reminds of payouts that were approved a week ago and not marked as sent', async () => {
  const shop = shared()
  const operator = await operatorOf(shop)
  const { pay, file, sent } = runs(operator)
  const { runId } = await pay(await dueSeller(shop))
  const unsent = async () =>
    (await operator.call('GET', '/api/operator/attention')).body.matters.filter(
      ({ what }: { what: string }) => what === 'payouts_unsent',
    )
  const age = (days: number) =>
    sql`update payouts set created_at = now() - make_interval(days => ${days}) where run_id = ${runId}`.execute(shop.db)
  await age(6)
  assert.deepEqual(await unsent(), [])
  await age(8)
  await file(runId)
  const [matter, ...others] = await unsent()
  assert.deepEqual(others, [])
  assert.match(matter.says, /^1 payout was approved more than 7 days ago and is not marked as sent\.$/)
  assert.equal(matter.view, '/payouts?status=approved')
  await sent(runId)
  assert.deepEqual(await unsent(), [])
})

test('an operator who saw the payout before its file was sent does not take it back', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operator = await operatorOf(shop)
  const { pay, file, sent } = runs(operator)
  const { runId, payoutId } = await pay(seller)
  const giveUp = (state: string) =>
    operator.call('POST', `/api/operator/payouts/${payoutId}/failed`, { reason: 'We do not pay it.', state })
  assertProblem(await giveUp('sent'), 409, 'payout_not_movable')
  await file(runId)
  await sent(runId)
  // the bank has the file by now
  assertProblem(await giveUp('approved'), 409, 'payout_not_movable')
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [{ kind: 'payout', amountMinor: 1862 }])
  assertProblem(await giveUp('lost'), 400, 'validation_failed')
  assert.deepEqual((await giveUp('sent')).body, { changed: true })
  assert.deepEqual((await giveUp('sent')).body, { changed: false })
  await booksAgree()
})

test('a payout goes one way only: no step is left out, repeated or taken back', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operator = await operatorOf(shop)
  const { pay, file, sent, mark } = runs(operator)
  assertProblem(await mark('po_00000000000000000000000000', 'paid'), 404, 'payout_not_found')
  assertProblem(await mark('po_x', 'paid'), 404, 'payout_not_found')
  const { runId, payoutId } = await pay(seller)
  assertProblem(await sent(runId), 409, 'run_not_exported')
  for (const step of ['paid', 'reversed'] as const) assertProblem(await mark(payoutId, step), 409, 'payout_not_movable')
  await file(runId)
  // the file could still be sent, and then the seller would be paid twice
  assertProblem(await mark(payoutId, 'failed'), 409, 'payout_not_movable')
  assert((await sent(runId)).body.sent >= 1)
  assert.deepEqual((await sent(runId)).body, { sent: 0 })
  assertProblem(await mark(payoutId, 'reversed'), 409, 'payout_not_movable')
  assert.deepEqual((await mark(payoutId, 'paid')).body, { changed: true })
  assert.deepEqual((await mark(payoutId, 'paid')).body, { changed: false })
  assertProblem(await mark(payoutId, 'failed'), 409, 'payout_not_movable')
  assert.deepEqual(await seller.balance(), { balance: 0, available: 0, pending: 0, onTheWay: 0 })
  assert.deepEqual((await mark(payoutId, 'reversed')).body, { changed: true })
  assert.deepEqual((await mark(payoutId, 'reversed')).body, { changed: false })
  for (const step of ['paid', 'failed'] as const) assertProblem(await mark(payoutId, step), 409, 'payout_not_movable')
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [
    { kind: 'payout', amountMinor: 1862 },
    { kind: 'payout_reversed', amountMinor: 1862 },
  ])
  assert.deepEqual((await logOf(operator, payoutId)).map(({ action }) => action), ['payout_reversed', 'payout_paid']) // oxfmt-ignore
  await booksAgree()
})

test('ten failures of one payout at once give the money back once, and a run pays it again once the account is confirmed', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const { send, pay, mark } = runs(await operatorOf(shop))
  const first = await send(seller)
  // ten days later
  await sql`update payouts set sent_at = sent_at - interval '10 days', created_at = created_at - interval '10 days' where id = ${first.payoutId}`.execute(shop.db) // oxfmt-ignore
  const answers = await times(10, () => mark(first.payoutId, 'failed', 'AC04: the account is closed'))
  assert.equal(answers.filter(({ body }) => body.changed).length, 1)
  assert.deepEqual(await seller.balance(), { balance: 1862, available: 1862, pending: 0, onTheWay: 0 })
  await seller.details()
  const second = await pay(seller)
  assert.equal(second.amount, 1862)
  assert.notEqual(second.payoutId, first.payoutId)
  assert.deepEqual((await payoutEntries(shop, seller.sellerId)).map(({ kind }) => kind), ['payout', 'payout_failed', 'payout']) // oxfmt-ignore
  await booksAgree()
})

test('a confirmation and a failure at once: one of them holds, and the books agree with it', async () => {
  const shop = shared()
  const operator = await operatorOf(shop)
  const { send, mark } = runs(operator)
  const seller = await dueSeller(shop)
  const { payoutId } = await send(seller)
  const [paid, failed] = await Promise.all([mark(payoutId, 'paid'), mark(payoutId, 'failed')])
  assert.deepEqual([paid.status, failed.status].sort(), [200, 409])
  assert.equal((await seller.balance()).balance, failed.status === 200 ? 1862 : 0)
  await booksAgree()
})

test('a payout that is in no file can be given up, and is in no file then', async () => {
  const shop = shared()
  const [kept, given] = [await dueSeller(shop), await dueSeller(shop)]
  const { propose, approve, file, mark } = runs(await operatorOf(shop))
  const { runId } = await propose()
  const { body: run } = await approve(runId)
  const { payoutId } = lineOf(run, given.sellerId).payout
  assert.deepEqual((await mark(payoutId, 'failed', 'The operator knows better.')).body, { changed: true })
  const { body: content } = await file(runId)
  // a payout that failed in another test can be in this run, too
  const others = run.lines.filter((line: any) => line.payout && line.currency === 'USD' && line !== lineOf(run, given.sellerId)) // oxfmt-ignore
  assert.equal(content.match(/^PO[0-9A-Z]{26},/gm)!.length, others.length)
  assert.equal((await given.balance()).balance, 1862)
  assert.equal((await kept.balance()).balance, 0)
  await booksAgree()
})

test('money of a won dispute, and a chargeback after a payout, are counted', async () => {
  const shop = shared()
  const [winner, loser] = [await dueSeller(shop), await dueSeller(shop)]
  const { pay } = runs(await operatorOf(shop))
  await disputed(shop, winner.orderId)
  assert.equal((await winner.balance()).available, -38)
  await disputed(shop, winner.orderId, 'won')
  assert.equal((await winner.balance()).available, 1862)
  await pay(loser)
  await disputed(shop, loser.orderId)
  await disputed(shop, loser.orderId, 'lost')
  assert.deepEqual(await loser.balance(), { balance: -1862, available: -1862, pending: 0, onTheWay: 1862 })
  await booksAgree()
})

test('a correction needs an amount, a currency that the seller has, and a reason', async () => {
  const shop = shared()
  const seller = await newPaidSeller(shop)
  const operator = await operatorOf(shop)
  const adjust = (body: object, sellerId = seller.sellerId) =>
    operator.call('POST', `/api/operator/sellers/${sellerId}/adjustments`, body)
  const right = { amount: 500, currency: 'USD', reason: 'A welcome.' }
  for (const wrong of [
    { amount: 0 },
    { amount: 1.5 },
    { amount: '5' },
    { currency: 'usd' },
    { currency: 'XXX' },
    { reason: '' },
    { reason: 'x'.repeat(501) },
    { amount: -500 },
  ])
    // oxfmt-ignore
    assertProblem(await adjust({ ...right, ...wrong }), 400, 'validation_failed')
  assertProblem(await adjust({ amount: 5, currency: 'USD' }), 400, 'validation_failed')
  assertProblem(await adjust(right, 'sel_00000000000000000000000000'), 404, 'seller_not_found')
  assert.deepEqual(await payoutEntries(shop, seller.sellerId), [])
})

test('a correction is booked once for each key, however often it is sent, and its seller reads it', async () => {
  const shop = shared()
  const seller = await newPaidSeller(shop)
  const operator = await operatorOf(shop)
  const path = `/api/operator/sellers/${seller.sellerId}/adjustments`
  const body = { amount: 500, currency: 'USD', reason: 'A welcome.' }
  const key = { 'idempotency-key': 'the-same-key-each-time' }
  const answers = await times(10, () => operator.call('POST', path, body, key))
  assert.deepEqual(new Set(answers.map(({ status, body: made }) => `${status} ${made.adjustmentId}`)).size, 1)
  assertProblem(await operator.call('POST', path, { ...body, amount: 501 }, key), 409, 'idempotency_key_reused')
  const taken = await operator.call('POST', path, { ...body, amount: -200, reason: 'Too much.' })
  assert.equal(taken.status, 201)
  assert.equal((await seller.balance()).balance, 300)
  const { items } = (await seller.browser.call('GET', '/api/transfers')).body
  assert.deepEqual(items.map(({ kind, amount, orderId }: any) => [kind, amount, orderId]), [['adjustment', -200, null], ['adjustment', 500, null]]) // oxfmt-ignore
  assert.deepEqual((await logOf(operator, seller.sellerId)).map(({ action }) => action), ['seller_adjusted', 'seller_adjusted']) // oxfmt-ignore
  await booksAgree()
})

test('the trial balance sees a payout without its entry, and an entry without its payout', async () => {
  const shop = shared()
  const seller = await dueSeller(shop)
  const { payoutId } = await runs(await operatorOf(shop)).send(seller)
  const whats = async (change: ReturnType<typeof sql>) => {
    const found: string[] = []
    await shop.db
      .transaction()
      .execute(async (tx) => {
        await change.execute(tx)
        found.push(...(await trialBalance(tx)).map(({ what }) => what))
        throw new Error('nothing of it stays')
      })
      .catch((error: Error) => assert.equal(error.message, 'nothing of it stays'))
    return [...new Set(found)]
  }
  const ended = sql`state = 'failed', ended_at = now(), failure = 'no'`
  assert.deepEqual(await whats(sql`update payouts set ${ended} where id = ${payoutId}`), ['payout_not_booked'])
  assert.deepEqual(await whats(sql`update payouts set amount_minor = 1 where id = ${payoutId}`), ['payout_booked_differently', 'bank_file_differs']) // oxfmt-ignore
  const stray = (kind: string, debit: string, credit: string) => sql`
    insert into transfers (kind, cause, debit_account, credit_account, amount_minor, currency)
    values (${kind}, 'po_stray', ${debit}, ${credit}, 1, 'USD')`
  assert.deepEqual(await whats(stray('payout', `seller:${seller.sellerId}`, 'payouts')), ['booked_without_payout'])
  assert.deepEqual(await whats(stray('adjustment', 'adjustments', `seller:${seller.sellerId}`)), ['booked_without_adjustment']) // oxfmt-ignore
  assert.deepEqual(await whats(sql`update payout_files set amount_minor = amount_minor + 1`), ['bank_file_differs'])
  await booksAgree()
})

test('the reconciliation names what a bank’s statement says of no payout', async () => {
  const shop = shared()
  await sql`
    with s as (insert into payout_statements (hash, format, uploaded_by, others) values (sha256('x'), 'csv', 'a test', 0) returning hash)
    insert into payout_statement_lines (statement_hash, position, reference, amount_minor, currency, outcome)
    select hash, 1, 'PO00000000000000000000000000', 1, 'USD', 'not_found' from s`.execute(shop.db)
  const now = new Date()
  const { differences } = await reconcileBooks({
    database: { connectionString: shop.databaseUrl },
    processors: new Map(),
    from: now,
    to: now,
  })
  assert.deepEqual(
    differences.map(({ what, id }) => [what, id]),
    [['bank_not_found', 'PO00000000000000000000000000']],
  )
})
