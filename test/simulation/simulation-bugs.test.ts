import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Order } from './books.ts'
import { historyOf } from './history.ts'
import { problemsOf } from './invariants.ts'
import { drainJobs, problemsAtTheEnd } from './final-checks.ts'
import { Run } from './run.ts'
import type { Way } from './ways.ts'
import { inWorld, runHistory } from './simulate.ts'
import type { BankPayment } from './bank-records.ts'
import type { World } from './world.ts'

// A simulation without faults means something only if it would find them. These tests plant bugs.

describe('every change of what the service wrote is noticed by some check', () => {
  test('every list, every number, every word of a history that had everything', async () => {
    const { order, truth } = await inWorld({}, eventfulOrder)
    const complaints = (changed: Order) => [...problemsOf(changed, order, truth), ...problemsAtTheEnd(changed, truth)]
    assert.deepEqual(complaints(order), [])
    for (const [what, changed] of changesOf(order))
      assert(complaints(changed).length > 0, `nobody minds that ${what}: ${JSON.stringify(changed)}`)
    for (const payment of truth)
      for (const kind of ['captures', 'refunds', 'disputes'] as const)
        for (const one of payment[kind]) {
          const lost = truth.map((each) => ({ ...each, [kind]: each[kind].filter((other) => other !== one) }))
          assert(problemsOf(order, undefined, lost).length > 0, `nobody minds that the bank knows no ${kind} ${one.id}`)
        }
  })
})

describe('a service with a bug is found out', () => {
  let world: World
  let end: () => void
  let ended: Promise<unknown>
  before(async () => {
    await new Promise<void>((ready, failed) => {
      ended = inWorld({}, (one) => {
        world = one
        ready()
        return new Promise<void>((resolve) => (end = resolve))
      }).catch(failed)
    })
  })
  after(async () => {
    end()
    await ended
  })

  /** A trigger plays the bug: it changes the rows that the service writes. `seed`: a history in which the bug shows. */
  const bugs: [name: string, event: string, body: string, complaint: RegExp, seed?: number][] = [
    [
      'the fee is not given back',
      'before insert on transfers',
      `if new.kind = 'fee_refund' then return null; end if;`,
      /of the fee/,
    ],
    [
      'a refund is booked with one cent too much',
      'before insert on transfers',
      `if new.kind = 'refund' then new.amount_minor := new.amount_minor + 1; end if;`,
      /not booked: refund|the money does not add up/,
    ],
    ['the sale is not booked', 'before insert on transfers', `if new.kind = 'sale' then return null; end if;`, /sales/],
    [
      'orders that expire unpaid are marked as paid',
      'before update on orders',
      `if new.state in ('processing', 'expired') then new.state := 'paid'; new.paid_at := now(); end if;`,
      /paid with 0 sales/,
      5,
    ],
    [
      'the captures are written with another amount',
      'before insert on captures',
      `new.amount_minor := new.amount_minor + 1;`,
      /the bank knows no such capture|sold for/,
    ],
    [
      'a second capture is not noted',
      'before insert on captures',
      `if new.purpose = 'duplicate' then return null; end if;`,
      /booked without a reason: held|answered with 500/,
      9,
    ],
    [
      'a paid order expires',
      'before update on orders',
      `if new.state = 'partially_refunded' then new.state := 'expired'; new.paid_at := null; end if;`,
      // the credit note of the refund cannot be issued for an order without a time of payment
      /expired with 1 sales|answered with 500/,
    ],
    [
      'a won dispute stays open',
      'before update on disputes',
      `if new.state = 'won' then new.state := 'open'; end if;`,
      /booked without a reason: dispute_release/,
    ],
    [
      'the receipt is sent twice',
      'after insert on begun_jobs',
      `if new.queue = 'mail' and new.data->>'kind' = 'receipt' and new.data->>'again' is null then
         insert into pgboss.job (name, data) values ('mail', new.data || '{"again": true}'); end if;`,
      /receipts promised/,
    ],
    [
      'the answer of a processor is forgotten',
      'before update on payments',
      `if old.state = 'starting' then return null; end if;`,
      /which nobody knows|was never started/,
    ],
    [
      'a second capture is not sent back',
      'before insert on refunds',
      `if new.reason = 'duplicate' then return null; end if;`,
      /did not go back|was never made/,
    ],
    [
      'a use of a code is not given back',
      'before update on discounts',
      `if new.uses < old.uses then return null; end if;`,
      /a code for/,
      14,
    ],
    [
      'a code is used more often than it may be',
      'before update on discounts',
      `if new.uses > old.uses then new.most_uses := new.most_uses + 5; end if;`,
      /a code for/,
    ],
    [
      'the timeline is silent about the payment',
      'before insert on order_events',
      `if new.what = 'paid' then return null; end if;`,
      /0 times paid in its timeline/,
    ],
    [
      'a payout is made and not booked',
      'before insert on transfers',
      `if new.kind = 'payout' then return null; end if;`,
      /is approved, and booked: nothing/,
    ],
    [
      'a payout that failed gives its money back twice',
      'after insert on transfers',
      `if new.kind = 'payout_failed' and length(new.cause) < 30 then
         insert into transfers (kind, cause, debit_account, credit_account, amount_minor, currency)
         values (new.kind, new.cause || ' again', new.debit_account, new.credit_account, new.amount_minor, new.currency); end if;`,
      /the money does not add up/,
    ],
  ]
  for (const [name, event, body, complaint, seed = 1] of bugs) {
    test(name, async () => {
      await world.client.query(`
        create function bug() returns trigger language plpgsql as $$ begin ${body} return new; end $$;
        create trigger bug ${event} for each row execute function bug()`)
      try {
        const found = await firstFailure(world, seed)
        assert.match(found, complaint)
      } finally {
        await world.client.query(`drop function bug() cascade`)
      }
    })
  }
})

describe('a service with a bug in its code is found out', () => {
  const bugs: Planted[] = [
    {
      name: 'each start of a payment has a new idempotency key',
      file: '/src/payments/attempts/start.ts',
      from: 'key: attempt.id,',
      to: 'key: attempt.id.slice(0, -2) + Math.floor(10 + Math.random() * 89),',
      complaint: /[23] payments were started side by side/,
      seed: 3,
    },
    {
      name: 'the reconciler lets an order expire although it could not ask the processor',
      file: '/src/payments/sync/sync.ts',
      from: 'if (failure && !(isUnaskable && order.forgotten)) throw failure',
      to: '',
      complaint: /it has expired, and its buyer can pay/,
      seed: 21,
    },
    {
      name: 'an approval does not lock the sellers, so two runs pay the same money',
      file: '/src/payouts/runs.ts',
      from: 'order by id for no key update`',
      to: 'order by id`',
      // two approvals at once overlap here, also on a busy machine
      also: {
        from: 'await insertPayouts(',
        to: 'await sql`select pg_sleep(0.2)`.execute(tx)\n    await insertPayouts(',
      },
      complaint: /made beside another payout of the same money|paid out \d+ of \d+/,
      seed: 25,
    },
    {
      name: 'an approval pays what was proposed, whatever has come between',
      file: '/src/payouts/runs.ts',
      from: 'least(l.amount_minor, d.payable)::bigint',
      to: 'l.amount_minor',
      complaint: /paid out \d+ of -?\d+/,
      seed: 8,
    },
  ]
  const ofConnect: Planted[] = [
    {
      name: 'the share of the fee does not go back with a refund',
      file: '/src/payments/settle/settle.ts',
      from: 'effects.transfers.some(isFeeBack)',
      to: 'false',
      complaint: /of the fee \d+, Stripe gave 0 back/,
      seed: 1,
    },
    {
      name: 'a payout of Stripe that comes back stays paid',
      file: '/src/payouts/accounts/mirror.ts',
      from: `p.state = 'paid' then 'reversed'`,
      to: `p.state = 'paid' then 'paid'`,
      complaint: /is failed at Stripe, and here paid/,
      seed: 1,
    },
  ]
  const ofRoute: Planted[] = [
    {
      name: 'a refund goes out before the seller’s part is back',
      file: '/src/payments/refunds/refund.ts',
      from: 'if (processor.takeBack && !refund.taken) await takeBack(syncing, refund.orderId)',
      to: '',
      complaint: /go back to the buyer, and \d+ are still at the linked account/,
      seed: 101,
    },
    {
      name: 'a transfer that waits counts as passed on',
      file: '/src/payments/settle/passes.ts',
      from: `if (now.state !== 'passed') return`,
      to: '',
      complaint: /passed on, and Razorpay has not/,
      seed: 1,
    },
    {
      name: 'the fee is passed on with the price',
      file: '/src/payments/attempts/payee.ts',
      from: 'amountMinor: amountMinor - feeMinor',
      to: 'amountMinor',
      complaint: /its transfers are of \d+, not of \d+/,
      seed: 101,
    },
    {
      name: 'a run pays what Razorpay has passed on',
      file: '/src/ledger/passed-on.ts',
      from: 'debit: sellerAccount(sellerId), credit: directAccount(sellerId)',
      to: 'debit: directAccount(sellerId), credit: directAccount(`${sellerId} again`)',
      complaint: /paid twice: \d+ by bank and \d+ by Razorpay|passed_on goes from direct/,
      seed: 101,
    },
  ]
  for (const [way, planted] of [
    ['manual', bugs],
    ['stripe-connect', ofConnect],
    ['razorpay-route', ofRoute],
  ] as const)
    // oxfmt-ignore
    for (const { name, complaint, seed, ...bug } of planted)
      test(`${way}: ${name}`, async () => assert.match(await simulateWith(bug, seed, way), complaint))
})

/**
 * `seed`: of a history in which the bug shows. The bug replaces `from`, which must stand once in the file. `also` replaces another text in
 * it, for a bug that shows only at certain moments.
 */
interface Planted {
  name: string
  file: string
  from: string
  to: string
  also?: { from: string; to: string }
  complaint: RegExp
  seed: number
}

/**
 * The output of `npm run simulate` for a service with this bug. It runs in a process of its own, because a loaded module cannot be
 * changed back.
 */
function simulateWith(bug: Pick<Planted, 'file' | 'from' | 'to' | 'also'>, seed: number, way: Way): Promise<string> {
  const folder = path.resolve(import.meta.dirname, '../..')
  const plant = path.join(import.meta.dirname, 'planted-bug.ts')
  const script = path.join(folder, 'scripts', 'simulate.ts')
  const args = [
    '--import',
    plant,
    script,
    '--runs',
    '40',
    '--seed',
    String(seed),
    '--lanes',
    '1',
    '--crashes',
    '0',
    '--way',
    way,
  ]
  return new Promise((resolve) => {
    const env = { ...process.env, PLANTED_BUG: JSON.stringify(bug) }
    execFile(process.execPath, args, { cwd: folder, env }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}

/** The report of the first history, from number `first` on, in which something is wrong. */
async function firstFailure(world: World, first: number): Promise<string> {
  for (let seed = first; seed < first + 40; seed++) {
    const failure = await runHistory(world, seed, historyOf(seed, { crashes: 0 }))
    if (failure) return failure.problems.join('\n')
  }
  return assert.fail('no check has noticed it')
}

/** An order that was paid twice, refunded in part, and disputed, in the end with more than was left. */
async function eventfulOrder(world: World): Promise<{ order: Order; truth: BankPayment[] }> {
  const run = new Run(world)
  await run.checkOut({ good: world.goods.find(({ currency }) => currency === 'INR')!, key: undefined, ageHours: 0 })
  const [id] = run.orders[0]!.payments
  const { razorpay } = world
  razorpay.pay(id!, { outcome: 'failed' })
  const { id: sale } = razorpay.pay(id!, {})
  await world.delivered()
  razorpay.pay(id!, { evenIfPaid: true })
  await world.delivered()
  razorpay.refundInDashboard(sale, { amount: 9_900 })
  await world.delivered()
  razorpay.moveDispute(razorpay.openDispute(sale, { amount: 20_000 }).id, 'won')
  razorpay.moveDispute(razorpay.openDispute(sale, { amount: 45_000 }).id, 'lost')
  await world.delivered()
  await drainJobs(run)
  await world.delivered()
  const [order] = await run.read()
  assert.deepEqual(
    [order!.state, order!.captures.length, order!.refunds.length, order!.disputes.length],
    ['charged_back', 2, 2, 2],
  )
  return { order: order!, truth: run.truth([order!.id]) }
}

/** Each with one thing that is not as it was. */
function* changesOf(order: Order): Generator<[what: string, changed: Order]> {
  for (const [name, value] of Object.entries(order)) {
    if (NOT_LOOKED_AT.has(name)) continue
    for (const changed of otherValues(value)) yield [`${name} is changed`, { ...order, [name]: changed }]
    if (!Array.isArray(value)) continue
    for (const [at, item] of value.entries()) {
      yield [`${name} ${at} is gone`, { ...order, [name]: value.toSpliced(at, 1) }]
      if (name !== 'timeline') yield [`${name} ${at} is there twice`, { ...order, [name]: [...value, item] }]
      if (typeof item !== 'object') continue
      for (const [field, was] of Object.entries(item)) {
        if (NOT_LOOKED_AT.has(`${name}.${field}`)) continue
        for (const now of otherValues(was))
          yield [`${name} ${at}: ${field} is ${now}`, { ...order, [name]: value.with(at, { ...item, [field]: now }) }]
      }
    }
  }
}

const NOT_LOOKED_AT = new Set(['id', 'payments.processor', 'refunds.key'])

function otherValues(value: unknown): unknown[] {
  if (typeof value === 'number') return [value + 1, value - 1]
  if (typeof value === 'boolean') return [!value]
  return typeof value === 'string' ? [`${value}x`] : []
}
