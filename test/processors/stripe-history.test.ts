import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MoneyMovement, ProcessorEvent } from '../../src/processors/processor.ts'
import { EVENT_TYPES } from '../../src/processors/stripe/notification.ts'
import type { Wire } from '../stand-ins/stripe-bank.ts'
import { setUp } from '../support/stripe-setup.ts'

const DAY_MS = 86_400_000

// ── after a time of silence

test('events since a moment are listed oldest first and completely, over many pages and days', async (t) => {
  const { server, bank, stripe, start } = await setUp(t)
  const began = Date.now() - 3 * DAY_MS
  const expected: string[] = []
  for (let i = 0; i < 40; i++) {
    bank.now = () => began + i * 0.07 * DAY_MS
    const id = await start()
    bank.confirm(id, { outcome: i % 3 ? 'succeed' : 'decline' })
  }
  bank.now = Date.now
  for (const { id, type } of bank.events) if ((EVENT_TYPES as readonly string[]).includes(type)) expected.push(id)
  server.knobs.pageSize = 3
  const told = await Array.fromAsync(stripe.eventsSince(new Date(began)))
  assert.deepEqual(
    told.map(({ id }) => id),
    expected,
  )
  assert(told.every(({ paymentId }) => paymentId?.startsWith('pi_')))
  const later = await Array.fromAsync(stripe.eventsSince(new Date(began + DAY_MS)))
  assert.deepEqual(
    later.map(({ id }) => id),
    expected.slice(-later.length),
  )
  assert(later.length > 20 && later.length < told.length)
})

test('events of the present second are listed too', async (t) => {
  const { bank, stripe, start } = await setUp(t)
  const id = await start()
  const since = new Date()
  bank.confirm(id)
  assert.equal((await Array.fromAsync(stripe.eventsSince(since))).length, 2)
})

test('a shop that was down for months reads the thirty days that Stripe lists', async (t) => {
  const { server, bank, stripe, start } = await setUp(t)
  bank.now = () => Date.now() - 40 * DAY_MS
  bank.confirm(await start())
  bank.now = () => Date.now() - 29 * DAY_MS
  bank.confirm(await start())
  bank.now = Date.now
  server.calls.splice(0)
  const told: ProcessorEvent[] = await Array.fromAsync(stripe.eventsSince(new Date(0)))
  assert.deepEqual(
    told.map(({ type }) => type),
    ['charge.succeeded', 'payment_intent.succeeded'],
  )
  assert(server.calls.length <= 30 * 4 + 1)
})

// ── the lists for a reconciliation

test('movements list exactly the events, each in its day', async (t) => {
  const { server, bank, stripe, start } = await setUp(t)
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const expected: MoneyMovement[][] = [[], [], []]
  const note = (day: number, kind: MoneyMovement['kind'], one: Wire, amountMinor: number) =>
    expected[day]!.push({
      kind,
      id: one['id'],
      processorPaymentId: one['payment_intent'],
      orderId: kind === 'capture' ? one['metadata'].order_id : undefined,
      amountMinor,
      currency: 'USD',
      at: new Date(one['created'] * 1000).toISOString(),
    })
  for (const day of [0, 1, 2]) {
    // from the first second of the day to its last
    for (const [at, seconds] of [0, 40_000, 86_399].entries()) {
      bank.now = () => midnight - (3 - day) * DAY_MS + seconds * 1000
      const id = await start()
      bank.confirm(id, { outcome: 'decline' })
      bank.confirm(await start(), { method: 'sepa_debit', outcome: 'processing' })
      bank.confirm(id)
      note(day, 'capture', bank.charges.at(-1)!, 1900)
      note(day, 'refund', bank.refundInDashboard(id, 100 + at), 100 + at)
      bank.failRefund(bank.refundInDashboard(id, 50)['id'])
      note(day, 'dispute', bank.openDispute(id, { amount: 700 }), 700)
      bank.openDispute(id, { status: 'warning_needs_response' })
    }
  }
  server.knobs.pageSize = 2
  const byId = (list: MoneyMovement[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  for (const [day, all] of expected.entries()) {
    const from = new Date(midnight - (3 - day) * DAY_MS)
    const told = await Array.fromAsync(stripe.movements(from, new Date(from.getTime() + DAY_MS)))
    assert.deepEqual(byId(told), byId(all), `day ${day}`)
  }
  const three = await Array.fromAsync(stripe.movements(new Date(midnight - 3 * DAY_MS), new Date(midnight)))
  assert.deepEqual(byId(three), byId(expected.flat()))
})

test('the captures and refunds of a snapshot match those of the movements', async (t) => {
  const { bank, stripe, start } = await setUp(t)
  const id = await start()
  bank.confirm(id)
  bank.refundInDashboard(id, 300)
  bank.openDispute(id, { amount: 500 })
  const { captures, refunds, disputes } = await stripe.fetchPayment(id)
  const told = await Array.fromAsync(stripe.movements(new Date(0), new Date(Date.now() + DAY_MS)))
  assert.deepEqual(
    told.map(({ kind, id, amountMinor }) => [kind, id, amountMinor]),
    [
      ['capture', captures[0]!.id, captures[0]!.amountMinor],
      ['refund', refunds[0]!.id, refunds[0]!.amountMinor],
      ['dispute', disputes[0]!.id, disputes[0]!.amountMinor],
    ],
  )
  assert.equal(told[0]!.at, captures[0]!.capturedAt)
})
