import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { movePayout } from '../../src/payouts/moves.ts'
import { operatorOf } from '../operator/support.ts'
import { query } from '../stand-ins/processor.ts'
import { eventually, sharedShop } from '../support/shop.ts'
import { MANUAL, dueSeller, runs } from './support.ts'

const shared = sharedShop(MANUAL)

const addressOf = async (sellerId: string) =>
  (await query<{ email: string }>(shared().db, sql`select email from sellers where id = ${sellerId}`))[0]!.email

/** The mails about payouts to a seller, when there are so many. */
async function mails(sellerId: string, count: number) {
  await shared().enqueuePayoutMails()
  const to = await addressOf(sellerId)
  const all = await eventually(
    async () => (await shared().mails(to)).filter(({ text }) => text.includes('/shop/#/money/payouts/')),
    (found) => found.length >= count,
  )
  assert.equal(all.length, count)
  return all
}

test('a seller hears once that a payout is on its way, and nothing when the bank confirms it', async () => {
  const operator = runs(await operatorOf(shared()))
  const seller = await dueSeller(shared())
  const { runId, payoutId } = await operator.send(seller)
  await operator.sent(runId)
  const [sent] = await mails(seller.sellerId, 1)
  assert.equal(sent!.subject, '$18.62 is on its way to you')
  for (const part of ['$18.62 (USD)', payoutId, payoutId.replace('_', '').toUpperCase(), '5678'])
    assert(sent!.text.includes(part), `${part} is in ${sent!.text}`)
  assert(!sent!.text.includes('12345678'), 'the account number is masked')
  assert.match(sent!.text, /If this is not your account, somebody else has changed your payout details/)
  await operator.mark(payoutId, 'paid')
  await mails(seller.sellerId, 1)
})

test('a seller hears that a payout failed or came back, why, and what to do', async () => {
  const operator = runs(await operatorOf(shared()))
  const one = await dueSeller(shared())
  const failed = await operator.send(one)
  assert.equal((await operator.mark(failed.payoutId, 'failed', 'The account is closed.')).status, 200)
  assert.equal((await operator.mark(failed.payoutId, 'failed', 'The account is closed.')).status, 200)
  const refused = (await mails(one.sellerId, 1)).find(({ subject }) => subject === 'Your payout of $18.62 failed')
  for (const part of ['The account is closed.', 'back in your balance', 'check your payout details'])
    assert(refused?.text.includes(part), `${part} is in ${refused?.text}`)

  const two = await dueSeller(shared())
  const back = await operator.send(two)
  await operator.mark(back.payoutId, 'paid')
  await operator.mark(back.payoutId, 'reversed', 'No such account.')
  // the mail that it was sent would be wrong by now
  const subjects = (await mails(two.sellerId, 1)).map(({ subject }) => subject)
  assert(subjects.includes('Your payout of $18.62 came back'), subjects.join())
})

test('a seller hears that the operator has not sent a payout, and nothing about a bank', async () => {
  const operator = runs(await operatorOf(shared()))
  const seller = await dueSeller(shared())
  const { payoutId } = await operator.pay(seller)
  await operator.mark(payoutId, 'failed', 'We wait with this one.')
  const [mail] = await mails(seller.sellerId, 1)
  assert.equal(mail!.subject, 'Your payout of $18.62 was not sent')
  for (const part of ['The operator said', 'We wait with this one.', 'in your balance again'])
    assert(mail!.text.includes(part), `${part} is in ${mail!.text}`)
  assert.doesNotMatch(mail!.text, /refused|The bank said|payout details and save/)
})

test('a mark that is rolled back sends no mail', async () => {
  const operator = runs(await operatorOf(shared()))
  const seller = await dueSeller(shared())
  const { payoutId } = await operator.send(seller)
  await mails(seller.sellerId, 1)
  const undone = inTransaction(shared().db, async (tx) => {
    await movePayout(tx, 'fail', { id: payoutId, reason: 'Never mind' })
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  assert.deepEqual(await query(shared().db, sql`select 1 from untold_payouts`), [])
  await mails(seller.sellerId, 1)
})
