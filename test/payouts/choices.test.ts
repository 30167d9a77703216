import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { referenceOf } from '../../src/payouts/runs.ts'
import { ageSignIns, logOf, operatorOf } from '../operator/support.ts'
import { type TestShop, assertProblem, sharedShop, startTestShop, temporaryFolder } from '../support/shop.ts'
import { IBAN, MANUAL, dueSeller, endHold, lineOf, newPaidSeller, payoutEntries, payoutsCommand, runs } from './support.ts' // oxfmt-ignore

// Decisions of an operator and a seller about single payouts: wait with one seller, and go on after a payout that came back.

const PAYER = 'NL91ABNA0417164300'
const WITH_PAYER = { env: { ...MANUAL.env, PAYOUT_FROM_NAME: 'Till GmbH', PAYOUT_FROM_IBAN: PAYER } }
const shared = sharedShop(WITH_PAYER)

test('a seller who is left out keeps the money, and the others are paid', async () => {
  const [out, paid] = [await dueSeller(shared()), await dueSeller(shared())]
  const operator = await operatorOf(shared())
  const { propose, approve, get, leaveOut } = runs(operator)
  const { runId } = await propose()
  assert.deepEqual((await leaveOut(runId, out.sellerId)).body, { changed: true })
  assert.deepEqual((await leaveOut(runId, out.sellerId)).body, { changed: false })
  assert.equal(lineOf(await get(runId), out.sellerId).blocked, 'left_out')
  const { body: run } = await approve(runId)
  assert.equal(lineOf(run, out.sellerId).payout, null)
  assert.equal(lineOf(run, paid.sellerId).payout.amount, 1862)
  assert.deepEqual(await payoutEntries(shared(), out.sellerId), [])
  assert.equal((await out.balance()).available, 1862)
  const notes = (await logOf(operator, runId)).filter(({ action }) => action === 'payout_left_out')
  assert.deepEqual(notes.map(({ detail }) => detail), [{ sellerId: out.sellerId, currency: 'USD' }]) // oxfmt-ignore
  // the next run proposes it
  assert.equal(lineOf(await propose(), out.sellerId).blocked, null)
})

test('a seller who is taken in again is paid', async () => {
  const seller = await dueSeller(shared())
  const { propose, approve, leaveOut } = runs(await operatorOf(shared()))
  const { runId } = await propose()
  assert.deepEqual((await leaveOut(runId, seller.sellerId, false)).body, { changed: false })
  await leaveOut(runId, seller.sellerId)
  assert.deepEqual((await leaveOut(runId, seller.sellerId, false)).body, { changed: true })
  assert.equal(lineOf((await approve(runId)).body, seller.sellerId).payout.amount, 1862)
})

test('nobody is left out of a run that is decided, that does not exist, or that would not pay them', async () => {
  const [seller, nowhere] = [await dueSeller(shared()), await newPaidSeller(shared())]
  await nowhere.sell(1900)
  const operator = await operatorOf(shared())
  const { propose, approve, leaveOut, get } = runs(operator)
  const { runId } = await propose()
  assertProblem(await leaveOut('run_00000000000000000000000000', seller.sellerId), 404, 'run_not_found')
  assertProblem(await leaveOut(runId, seller.sellerId, true, 'EUR'), 404, 'run_line_not_found')
  assertProblem(await leaveOut(runId, nowhere.sellerId), 404, 'run_line_not_found')
  assert.equal(lineOf(await get(runId), nowhere.sellerId).blocked, 'no_details')
  assertProblem(await leaveOut(runId, 'sel_x'), 404, 'seller_not_found')
  assertProblem(await leaveOut(runId, seller.sellerId, true, 'usd'), 400, 'validation_failed')
  await approve(runId)
  assertProblem(await leaveOut(runId, seller.sellerId), 409, 'run_not_proposed')
  assert.equal((await seller.browser.call('PUT', `/api/operator/payout-runs/${runId}/left-out/${seller.sellerId}/USD`)).status, 404) // oxfmt-ignore
  await ageSignIns(shared(), operator)
  assertProblem(await leaveOut(runId, seller.sellerId), 403, 'recent_sign_in_required')
})

test('a seller is left out while the run is approved: the payout and the line agree', async () => {
  const operator = await operatorOf(shared())
  const { propose, approve, get, leaveOut } = runs(operator)
  for (let round = 0; round < 3; round++) {
    const seller = await dueSeller(shared())
    const { runId } = await propose()
    const [answer] = await Promise.all([leaveOut(runId, seller.sellerId), approve(runId)])
    const { blocked, payout } = lineOf(await get(runId), seller.sellerId)
    if (answer.status === 200) assert.deepEqual([blocked, payout], ['left_out', null])
    else assert.deepEqual([answer.body.code, blocked, payout.amount], ['run_not_proposed', null, 1862])
  }
})

/** A payout that the bank has sent back, and the seller's line in the next run. */
async function refused() {
  const seller = await dueSeller(shared())
  const operator = await operatorOf(shared())
  const steps = runs(operator)
  const { payoutId } = await steps.send(seller)
  await steps.mark(payoutId, 'failed')
  const next = async () => lineOf(await steps.propose(), seller.sellerId).blocked
  const own = async () =>
    (await seller.browser.call('GET', '/api/payouts/next')).body.items.find((one: { currency: string }) => one.currency === 'USD').blocked // oxfmt-ignore
  return { seller, operator, payoutId, next, own, ...steps }
}

test('a payout that the bank refused is not proposed to the same account again, until the seller has saved it again', async () => {
  const { seller, next, own } = await refused()
  assert.deepEqual([await next(), await own()], ['account_refused', 'account_refused'])
  await seller.details('USD', true)
  // the same details again confirm them, without another holding time
  assert.deepEqual([await next(), await own()], [null, null])
})

test('a payout to the account of before, which comes back after the details have changed, says nothing about the new account', async () => {
  const { send, mark, propose } = runs(await operatorOf(shared()))
  // the second one is a correction that shows as before
  for (const lines of [
    ['Second Bank', 'Account 87654321'],
    ['First Bank', 'Routing 021000089', 'Account 12345678'],
  ]) {
    const seller = await dueSeller(shared())
    const { payoutId } = await send(seller)
    // before the 72 hours, which the test shortens
    await sql`update payouts set created_at = now() - interval '1 hour' where id = ${payoutId}`.execute(shared().db)
    const other = { kind: 'other', name: 'Zoe Smith', country: 'US', lines }
    assert.equal((await seller.browser.call('PUT', '/api/payout-details/USD', other)).status, 200)
    await mark(payoutId, 'failed')
    const next = async () => lineOf(await propose(), seller.sellerId).blocked
    assert.equal(await next(), 'details_changed')
    await endHold(shared(), seller.sellerId)
    assert.equal(await next(), null)
  }
})

test('other details after a payout that came back wait 72 hours as ever', async () => {
  const { seller, next } = await refused()
  const other = { kind: 'other', name: 'Zoe Smith', country: 'US', lines: ['Second Bank', 'Account 87654321'] }
  assert.equal((await seller.browser.call('PUT', '/api/payout-details/USD', other)).status, 200)
  assert.equal(await next(), 'details_changed')
  await endHold(shared(), seller.sellerId)
  assert.equal(await next(), null)
})

test('the operator says that the account of a payout that came back is right', async () => {
  const { operator, payoutId, next, payAgain, mark, send, seller } = await refused()
  const waiting = async () =>
    (await operator.call('GET', '/api/operator/attention')).body.matters.filter(({ view }: { view: string }) => view === `/payouts/${payoutId}`) // oxfmt-ignore
  assert.deepEqual((await waiting()).map(({ what }: { what: string }) => what), ['payout_failed']) // oxfmt-ignore
  assert.deepEqual((await payAgain(payoutId)).body, { changed: true })
  assert.deepEqual((await payAgain(payoutId)).body, { changed: false })
  assert.deepEqual(await waiting(), [])
  assert.equal(await next(), null)
  assert.deepEqual((await logOf(operator, payoutId)).map(({ action }) => action).slice(0, 1), ['payout_account_confirmed']) // oxfmt-ignore
  const again = await send(seller)
  assertProblem(await payAgain(again.payoutId), 409, 'payout_not_movable')
  await mark(again.payoutId, 'paid')
  await mark(again.payoutId, 'reversed')
  assert.equal(await next(), 'account_refused')
  assertProblem(await payAgain('po_00000000000000000000000000'), 404, 'payout_not_found')
  assertProblem(await payAgain('po_x'), 404, 'payout_not_found')
  await ageSignIns(shared(), operator)
  assertProblem(await payAgain(payoutId), 403, 'recent_sign_in_required')
})

test('a payout that was given up before a bank had it says nothing about the account', async () => {
  const seller = await dueSeller(shared())
  const { pay, mark, propose } = runs(await operatorOf(shared()))
  const { payoutId } = await pay(seller)
  await mark(payoutId, 'failed', 'We wait with this one.')
  assert.equal(lineOf(await propose(), seller.sellerId).blocked, null)
})

test('a run that would pay others than the operator saw is not approved', async () => {
  const [seller, other] = [await dueSeller(shared()), await dueSeller(shared())]
  const operator = await operatorOf(shared())
  const { propose, get } = runs(operator)
  const { runId } = await propose()
  const address = `/api/operator/payout-runs/${runId}`
  const approve = (body: object) => operator.call('POST', `${address}/approve`, body)
  const seen = async () => ({ selection: (await get(runId)).selection })
  const withBoth = await seen()
  await operator.call('PUT', `${address}/left-out/${seller.sellerId}/USD`)
  const withOther = await seen()
  assertProblem(await approve(withBoth), 409, 'run_changed')
  // the sums are the same again
  await operator.call('DELETE', `${address}/left-out/${seller.sellerId}/USD`)
  await operator.call('PUT', `${address}/left-out/${other.sellerId}/USD`)
  for (const body of [withOther, withBoth, { selection: '' }]) assertProblem(await approve(body), 409, 'run_changed')
  for (const body of [{}, { selection: 1 }]) assertProblem(await approve(body), 400, 'validation_failed')
  assert.equal((await get(runId)).state, 'proposed')
  const approved = await approve(await seen())
  assert.equal(approved.status, 200, JSON.stringify(approved.body))
  assert.equal(lineOf(approved.body, seller.sellerId).payout.amount, 1862)
  assert.equal(lineOf(approved.body, other.sellerId).payout, null)
})

test('a bank file is made by a POST, and a GET only repeats it', async () => {
  const seller = await dueSeller(shared())
  const operator = await operatorOf(shared())
  const { pay, file, get } = runs(operator)
  const { runId } = await pay(seller)
  const address = `/api/operator/payout-runs/${runId}/files/USD`
  assertProblem(await operator.call('GET', address), 409, 'run_not_exported')
  assert.equal((await get(runId)).files[0].exportedAt, null)
  const { body: content } = await file(runId)
  assert.equal((await operator.call('GET', address)).body, content)
})

test('a file that was made does not stand for payouts that belong to it only since the account to pay from was removed', async (t) => {
  const shop = await startTestShop(t, WITH_PAYER)
  const { bySepa, elsewhere, runId, payoutOf, file } = await europeans(shop)
  const csv = await file(runId, 'EUR', '?format=csv')
  assert.equal(csv.status, 200)
  assert(csv.body.includes(referenceOf(payoutOf(elsewhere))) && !csv.body.includes(referenceOf(payoutOf(bySepa))))

  const later = await startTestShop(t, { ...MANUAL, databaseUrl: shop.databaseUrl })
  const operator = await operatorOf(later)
  const without = runs(operator)
  const files = (await without.get(runId)).files.map(({ format, payouts, exportedAt }: any) => [format, payouts, exportedAt !== null]) // oxfmt-ignore
  assert.deepEqual(files, [['csv', 1, true], ['csv', 1, false]]) // oxfmt-ignore
  for (const query of ['?format=csv', '']) {
    const refused = await without.file(runId, 'EUR', query)
    assertProblem(refused, 409, 'file_made_before')
    assert.match(refused.body.detail, /PAYOUT_FROM_IBAN/)
  }
  // the file as it was made is there still, and on the machine too
  assert.equal((await operator.call('GET', `/api/operator/payout-runs/${runId}/files/EUR?format=csv`)).body, csv.body)
  const folder = await temporaryFolder(t)
  const { status, err } = await payoutsCommand(later, ['export', runId, folder]).ended
  assert.deepEqual([status, fs.readdirSync(folder)], [1, [`payouts-${runId}-EUR.csv`]])
  assert.match(err, /PAYOUT_FROM_IBAN/)
  assert.equal(fs.readFileSync(path.join(folder, `payouts-${runId}-EUR.csv`), 'utf8'), csv.body)
  assertProblem(await without.sent(runId), 409, 'run_not_exported')

  // with the account again the rest has its own file, and given up it is in no file
  assert.equal((await file(runId, 'EUR', '?format=csv')).body, csv.body)
  assert.equal((await without.mark(payoutOf(bySepa), 'failed', 'There is no account to pay from.')).status, 200)
  assert.equal((await without.file(runId, 'EUR')).body, csv.body)
  assert.deepEqual((await without.sent(runId)).body, { sent: 1 })
})

test('without a format, a file that waits is made also where a payout of the other kind was given up', async () => {
  const { bySepa, elsewhere, runId, payoutOf, file, mark } = await europeans(shared())
  await mark(payoutOf(bySepa), 'failed', 'We wait with this one.')
  const { status, body } = await file(runId, 'EUR')
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(body, /^reference,/)
  assert(body.includes(referenceOf(payoutOf(elsewhere))))
})

/** An approved run with euros to an IBAN, and to an account that only the CSV can name. */
async function europeans(shop: TestShop) {
  const [bySepa, elsewhere] = [await newPaidSeller(shop), await newPaidSeller(shop)]
  for (const seller of [bySepa, elsewhere]) await seller.sell(1900, 'EUR')
  await bySepa.details('EUR')
  const account = { kind: 'other', name: 'Zoe', country: 'US', lines: ['First Bank', 'Account 12345678'] }
  assert.equal((await elsewhere.browser.call('PUT', '/api/payout-details/EUR', account)).status, 200)
  await endHold(shop, elsewhere.sellerId)
  const steps = runs(await operatorOf(shop))
  const { runId } = await steps.propose()
  const { body: run } = await steps.approve(runId)
  const payoutOf = ({ sellerId }: { sellerId: string }): string => lineOf(run, sellerId, 'EUR').payout.payoutId
  return { ...steps, bySepa, elsewhere, runId: runId as string, payoutOf }
}

test('a statement of another account says nothing about payouts of a SEPA file', async () => {
  const seller = await newPaidSeller(shared())
  await seller.sell(1900, 'EUR')
  await seller.details('EUR')
  const operator = await operatorOf(shared())
  const { propose, approve, file, sent } = runs(operator)
  const { runId } = await propose()
  const { payoutId, amount } = lineOf((await approve(runId)).body, seller.sellerId, 'EUR').payout
  assert.equal((await file(runId, 'EUR', '?format=sepa')).status, 200)
  await sent(runId, { currency: 'EUR' })
  const statement = (iban: string) =>
    operator.call('POST', '/api/operator/payouts/statement', camtOf(iban, referenceOf(payoutId), amount), { 'content-type': 'application/xml' }) // oxfmt-ignore
  const outcome = async (iban: string) => (await statement(iban)).body.lines.map((line: { outcome: string }) => line.outcome) // oxfmt-ignore
  assert.deepEqual(await outcome(IBAN), ['other_account'])
  const { items } = (await operator.call('GET', `/api/operator/payouts?q=${payoutId}`)).body
  assert.equal(items[0].status, 'sent')
  assert.deepEqual(await outcome(PAYER.replace(/(.{4})/g, '$1 ')), ['paid'])
})

const camtOf = (iban: string, reference: string, minor: number) =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Acct><Id><IBAN>${iban}</IBAN></Id></Acct>
  <Ntry><Amt Ccy="EUR">${minor / 100}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-24</Dt></BookgDt><NtryDtls><TxDtls>
  <Refs><EndToEndId>${reference}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`
