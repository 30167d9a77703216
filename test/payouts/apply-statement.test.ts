import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { referenceOf } from '../../src/payouts/runs.ts'
import { ageSignIns, logOf, operatorOf } from '../operator/support.ts'
import { query, times } from '../stand-ins/processor.ts'
import type { Browser } from '../support/seller.ts'
import { type Answer, assertProblem, sharedShop } from '../support/shop.ts'
import { MANUAL, dueSeller, payoutEntries, runs } from './support.ts'

const shared = sharedShop(MANUAL)

const booksAgree = async () =>
  assert.deepEqual(await shared().db.transaction().execute((tx) => trialBalance(tx)), []) // oxfmt-ignore

const upload = (browser: Pick<Browser, 'call'>, text: string, type = 'text/csv'): Promise<Answer> =>
  browser.call('POST', '/api/operator/payouts/statement', text, { 'content-type': type })

let files = 0
/** Each file is another, because a file counts once. */
const csv = (...lines: string[]): string =>
  `reference,amount,currency,status,bookedOn,reason,file\n${lines.map((line) => `${line},${++files}\n`).join('')}`
const booked = (payoutId: string, amount = '18.62', currency = 'USD', on = '2026-11-24') =>
  `${referenceOf(payoutId)},${amount},${currency},booked,${on},`
const bookedOn = (payoutId: string, on: string) => booked(payoutId, '18.62', 'USD', on)
const returned = (payoutId: string, amount = '18.62', reason = 'AC04 closed') =>
  `${referenceOf(payoutId)},${amount},USD,returned,2026-11-25,${reason}`
const outcomes = ({ status, body }: Answer): string[] => {
  assert.equal(status, 200, JSON.stringify(body))
  return body.lines.map(({ outcome }: { outcome: string }) => outcome)
}

async function sentPayout() {
  const shop = shared()
  const seller = await dueSeller(shop)
  const operator = await operatorOf(shop)
  const made = await runs(operator).send(seller)
  const state = async () => {
    const { items } = (await operator.call('GET', `/api/operator/payouts?q=${made.payoutId}`)).body
    return [items[0].status, items[0].failure]
  }
  return { ...made, operator, seller, state }
}

test('a statement confirms what has left, and gives back what came back, each once', async () => {
  const one = await sentPayout()
  const two = await sentPayout()
  const { operator } = one
  const text = csv(booked(one.payoutId), booked(two.payoutId), 'RENT-11,900.00,USD,booked,2026-11-24,')
  const answer = await upload(operator, text)
  assert.deepEqual(outcomes(answer), ['paid', 'paid'])
  assert.deepEqual([answer.body.format, answer.body.others], ['csv', 1])
  assert.deepEqual(answer.body.lines[0], { reference: referenceOf(one.payoutId), status: 'booked', amount: 1862, currency: 'USD', outcome: 'paid', payoutId: one.payoutId, payoutAmount: 1862 }) // oxfmt-ignore
  assert.deepEqual([await one.state(), await two.state()], [['paid', null], ['paid', null]]) // oxfmt-ignore
  assertProblem(await upload(operator, text), 409, 'statement_already_read')

  // another file with the same lines, as a month has those of its weeks
  assert.deepEqual(outcomes(await upload(operator, csv(booked(one.payoutId), booked(two.payoutId)))), ['known_before', 'known_before']) // oxfmt-ignore
  assert.deepEqual(outcomes(await upload(operator, csv(returned(one.payoutId)))), ['reversed'])
  assert.deepEqual(outcomes(await upload(operator, csv(returned(one.payoutId), booked(one.payoutId)))), ['known_before', 'known_before']) // oxfmt-ignore
  assert.deepEqual(await one.state(), ['reversed', 'AC04 closed'])
  assert.deepEqual(await payoutEntries(shared(), one.seller.sellerId), [
    { kind: 'payout', amountMinor: 1862 },
    { kind: 'payout_reversed', amountMinor: 1862 },
  ])
  assert.equal((await one.seller.balance()).available, 1862)
  const kept = await query<{ text: string }>(
    shared().db,
    sql`select string_agg(l::text, ' ') as text from payout_statement_lines l`,
  )
  assert.doesNotMatch(kept[0]!.text, /RENT/)
  assert((await logOf(operator, one.payoutId)).some(({ action }) => action === 'payout_reversed'))
  await booksAgree()
})

test('what left and came back in one file is reversed, in either order; what only came back has failed', async () => {
  for (const swapped of [false, true]) {
    const { operator, payoutId, seller, state } = await sentPayout()
    const lines = [booked(payoutId), returned(payoutId)]
    const answer = await upload(operator, csv(...(swapped ? lines.toReversed() : lines)))
    assert.deepEqual(outcomes(answer), swapped ? ['reversed', 'paid'] : ['paid', 'reversed'])
    assert.deepEqual(await state(), ['reversed', 'AC04 closed'])
    assert.equal((await payoutEntries(shared(), seller.sellerId)).length, 2)
  }
  const { operator, payoutId, seller, state } = await sentPayout()
  assert.deepEqual(outcomes(await upload(operator, csv(returned(payoutId, '18.62', '')))), ['failed'])
  assert.deepEqual(await state(), ['failed', 'The bank returned it.'])
  assert.equal((await seller.balance()).available, 1862)
  // the file of the weeks before comes later
  assert.deepEqual(outcomes(await upload(operator, csv(booked(payoutId)))), ['known_before'])
  assert.deepEqual(await state(), ['failed', 'The bank returned it.'])
  await booksAgree()
})

test('a payment on another day than the known one is not expected: the bank has paid twice', async () => {
  const { operator, payoutId, state } = await sentPayout()
  assert.deepEqual(outcomes(await upload(operator, csv(booked(payoutId)))), ['paid'])
  assert.deepEqual(outcomes(await upload(operator, csv(returned(payoutId)))), ['reversed'])
  const [same, later] = [booked(payoutId), bookedOn(payoutId, '2026-11-27')]
  assert.deepEqual(outcomes(await upload(operator, csv(later))), ['not_expected'])
  // the file of the month has both, in any order
  assert.deepEqual(outcomes(await upload(operator, csv(same, later))), ['known_before', 'not_expected'])
  assert.deepEqual(outcomes(await upload(operator, csv(later, same))), ['not_expected', 'known_before'])
  assert.deepEqual(await state(), ['reversed', 'AC04 closed'])

  // the return was read first: what left before it is what came back
  const other = await sentPayout()
  assert.deepEqual(outcomes(await upload(operator, csv(returned(other.payoutId)))), ['failed'])
  assert.deepEqual(outcomes(await upload(operator, csv(bookedOn(other.payoutId, '2026-11-26')))), ['not_expected'])
  assert.deepEqual(outcomes(await upload(operator, csv(booked(other.payoutId)))), ['known_before'])
  assert.deepEqual(outcomes(await upload(operator, csv(bookedOn(other.payoutId, '2026-11-23')))), ['not_expected'])
  await booksAgree()
})

test('of two payments one comes back: the seller still has the other, and nothing is given back until it comes back too', async () => {
  const returnedOn = (payoutId: string, on: string) => returned(payoutId).replace('2026-11-25', on)
  // one file, as of a bank that takes back a payment it has booked twice
  const one = await sentPayout()
  const { operator } = one
  const twice = [booked(one.payoutId), booked(one.payoutId), returned(one.payoutId)]
  assert.deepEqual(outcomes(await upload(operator, csv(...twice))), ['paid', 'not_expected', 'not_expected'])
  // the file of the month has the same lines again
  assert.deepEqual(outcomes(await upload(operator, csv(...twice))), ['known_before', 'not_expected', 'not_expected'])
  assert.deepEqual(await one.state(), ['paid', null])
  assert.deepEqual(await payoutEntries(shared(), one.seller.sellerId), [{ kind: 'payout', amountMinor: 1862 }])
  assert.deepEqual(outcomes(await upload(operator, csv(returned(one.payoutId), returned(one.payoutId)))), ['not_expected', 'reversed']) // oxfmt-ignore
  assert.deepEqual(await one.state(), ['reversed', 'AC04 closed'])

  // a file for each day
  const two = await sentPayout()
  assert.deepEqual(outcomes(await upload(operator, csv(booked(two.payoutId)))), ['paid'])
  assert.deepEqual(outcomes(await upload(operator, csv(bookedOn(two.payoutId, '2026-11-27')))), ['not_expected'])
  assert.deepEqual(outcomes(await upload(operator, csv(returnedOn(two.payoutId, '2026-11-28')))), ['not_expected'])
  assert.deepEqual(await two.state(), ['paid', null])
  assert.deepEqual(outcomes(await upload(operator, csv(returnedOn(two.payoutId, '2026-11-30')))), ['reversed'])
  assert.equal((await two.seller.balance()).available, 1862)
  await booksAgree()
})

test('of two statements at once with a payment each on another day, one says that it was not expected', async () => {
  for (let round = 0; round < 3; round++) {
    const { operator, payoutId, state } = await sentPayout()
    const answers = await Promise.all(
      ['2026-11-24', '2026-11-27'].map((on) => upload(operator, csv(bookedOn(payoutId, on)))),
    )
    assert.deepEqual(answers.flatMap(outcomes).toSorted(), ['not_expected', 'paid'])
    assert.deepEqual(await state(), ['paid', null])
  }
})

test('a payout that the operator marked by hand is known to have left on the day of the first statement', async () => {
  const [paid, failed] = [await sentPayout(), await sentPayout()]
  const { operator } = paid
  await runs(operator).mark(paid.payoutId, 'paid')
  assert.deepEqual(outcomes(await upload(operator, csv(booked(paid.payoutId)))), ['known_before'])
  assert.deepEqual(outcomes(await upload(operator, csv(bookedOn(paid.payoutId, '2026-11-25')))), ['not_expected'])
  await runs(operator).mark(failed.payoutId, 'failed')
  assert.deepEqual(outcomes(await upload(operator, csv(booked(failed.payoutId)))), ['not_expected'])
})

test('a line that does not match changes nothing, and says so', async () => {
  const { operator, payoutId, state } = await sentPayout()
  for (const line of [
    booked(payoutId, '18.61'),
    booked(payoutId, '1862'),
    booked(payoutId, '18.62', 'EUR'),
    returned(payoutId, '18.00'),
  ])
    // oxfmt-ignore
    assert.deepEqual(outcomes(await upload(operator, csv(line))), ['amount_differs'], line)
  const unknown = referenceOf(payoutId).replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  assert.deepEqual(outcomes(await upload(operator, csv(`${unknown},18.62,USD,booked,2026-11-24,`))), ['not_found'])
  assert.deepEqual(await state(), ['sent', null])
  // one that is wrong beside one that is right
  assert.deepEqual(outcomes(await upload(operator, csv(booked(payoutId, '1.00'), booked(payoutId)))), ['amount_differs', 'not_expected']) // oxfmt-ignore
  assert.deepEqual(await state(), ['sent', null])
  // the bank has paid twice
  assert.deepEqual(outcomes(await upload(operator, csv(booked(payoutId), booked(payoutId)))), ['paid', 'not_expected'])
  assert.deepEqual(await state(), ['paid', null])
})

test('money that has left for a payout that is in no bank file is not expected', async () => {
  const seller = await dueSeller(shared())
  const operator = await operatorOf(shared())
  const { runId, payoutId } = await runs(operator).pay(seller)
  assert.deepEqual(outcomes(await upload(operator, csv(booked(payoutId)))), ['not_expected'])
  assert.deepEqual(outcomes(await upload(operator, csv(returned(payoutId)))), ['not_expected'])
  // in a file, and nobody has said that it was sent
  assert.equal((await runs(operator).file(runId)).status, 200)
  assert.deepEqual(outcomes(await upload(operator, csv(returned(payoutId)))), ['failed'])
  await booksAgree()
})

test('ten uploads of one file at once count once', async () => {
  const { operator, payoutId, seller } = await sentPayout()
  const text = csv(booked(payoutId), returned(payoutId))
  const answers = await times(10, () => upload(operator, text))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array<number>(9).fill(409)])
  assert.equal((await payoutEntries(shared(), seller.sellerId)).length, 2)
})

test('two statements and the operator say the same at once: it is booked once', async () => {
  const { operator, payoutId, seller, state } = await sentPayout()
  await upload(operator, csv(booked(payoutId)))
  const [one, two, mark] = await Promise.all([
    upload(operator, csv(returned(payoutId))),
    upload(operator, csv(returned(payoutId))),
    runs(operator).mark(payoutId, 'reversed'),
  ])
  const changes = [...outcomes(one), ...outcomes(two)].filter((outcome) => outcome === 'reversed').length
  assert.equal(changes + Number(mark.body.changed), 1)
  assert.equal((await state())[0], 'reversed')
  assert.equal((await payoutEntries(shared(), seller.sellerId)).length, 2)
  await booksAgree()
})

test('a file that cannot be read, or is too large, changes nothing and can be sent again when it is right', async () => {
  const { operator, payoutId, state } = await sentPayout()
  assertProblem(await upload(operator, csv(booked(payoutId), 'PO1,x,USD,booked,2026-11-24,')), 422, 'statement_not_readable') // oxfmt-ignore
  for (const text of ['', '<x/>', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', '{"a":1}', '\0'])
    for (const type of ['text/csv', 'application/xml', 'application/json', 'application/octet-stream'])
      assertProblem(await upload(operator, text, type), 422, 'statement_not_readable')
  assertProblem(await upload(operator, 'x'.repeat(10 * 1024 * 1024 + 1)), 413, 'body_too_large')
  assert.deepEqual(await state(), ['sent', null])
  await ageSignIns(shared(), operator)
  assertProblem(await upload(operator, csv(booked(payoutId))), 403, 'recent_sign_in_required')
})

test('a statement as camt.053 does the same', async () => {
  const { operator, payoutId, state } = await sentPayout()
  const entry = `<Ntry><Amt Ccy="USD">18.62</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-24</Dt></BookgDt><NtryDtls><TxDtls><Refs><EndToEndId>${referenceOf(payoutId)}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>` // oxfmt-ignore
  const answer = await upload(
    operator,
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>${entry}</Stmt></BkToCstmrStmt></Document>`,
    'application/xml',
  )
  assert.deepEqual([answer.body.format, ...outcomes(answer)], ['camt.053', 'paid'])
  assert.deepEqual(await state(), ['paid', null])
})
