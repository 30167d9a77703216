import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { connect, inTransaction } from '../../src/kit/database.ts'
import { type Jobs, startJobs } from '../../src/kit/jobs.ts'
import { newLog } from '../../src/kit/log.ts'
import type { Reconciliation } from '../../src/payments/reconciliation/reconcile.ts'
import { nightlySpan } from '../../src/payments/reconciliation/nightly.ts'
import { sandboxProcessor } from '../../src/processors/sandbox/sandbox.ts'
import { atEnd } from '../support/ends.ts'
import { openJobs } from '../support/jobs.ts'
import { kindsOf, planted, reconcileCommand, reconciliationOf } from '../support/reconciliation.ts'
import { query, times } from '../stand-ins/processor.ts'
import { startStripeServer } from '../stand-ins/stripe-server.ts'
import { stripeSettings } from '../support/stripe-shop.ts'
import { copyOf } from '../support/databases.ts'
import { type Ends, SECRET, type TestShop, eventually, startTestShop } from '../support/shop.ts'

// A reconciliation without differences proves something only if it finds every difference that can be made.

const nothing = async () => {}
const NO_JOBS: Jobs = { add: nothing, on: nothing, every: nothing, never: nothing, rest: nothing, stop: nothing }

async function reconciliationOfSandbox(url: string): Promise<Reconciliation> {
  const { db, close } = connect({ connectionString: url }, { connections: 2 })
  try {
    return await reconciliationOf(url, sandboxProcessor(db, NO_JOBS, [SECRET]))
  } finally {
    await close()
  }
}

/** Until nothing is on its way between the sandbox and the shop. */
const quiet = (shop: TestShop) =>
  eventually(
    () =>
      query<{ name: string }>(
        shop.db,
        sql`select name from ${openJobs} as j where name in ('sandbox_notify', 'sandbox_later', 'refund')`,
      ),
    (waiting) => waiting.length === 0,
  )

/** Everything that can happen to an order, in currencies with 0, 2 and 3 decimals. */
async function busyHistory(shop: TestShop): Promise<void> {
  for (const [currency, priceMinor, end] of [
    ['USD', 1925, 'open'],
    ['JPY', 3000, 'lost'],
    ['KWD', 12_345, 'won'],
  ] as const) {
    const productId = await shop.product({ currency, priceMinor })
    const [plain, part, parts, whole, twice, wrong, declined, , won, lost, lostAfterPart] = (await times(12, () =>
      shop.checkout({ productId }),
    )) as any[]
    for (const order of [plain, part, parts, whole, won, lost, lostAfterPart]) await shop.confirm(order)
    await shop.confirm(twice, 'double_capture')
    await shop.confirm(wrong, 'wrong_amount')
    await shop.confirm(declined, 'decline')
    const refund = (order: any, amount?: number) =>
      shop.call('POST', '/api/sandbox/refund', { clientSecret: order.clientSecret, ...(amount && { amount }) })
    const dispute = (order: any, outcome: string) =>
      shop.call('POST', '/api/sandbox/dispute', { clientSecret: order.clientSecret, outcome })
    await quiet(shop)
    await refund(part, 700)
    for (const amount of [333, 333, 7]) await refund(parts, amount)
    await refund(whole)
    await refund(lostAfterPart, 400)
    await quiet(shop)
    for (const order of [won, lost, lostAfterPart]) await dispute(order, 'open')
    await quiet(shop)
    await dispute(won, 'won')
    for (const order of [lost, lostAfterPart]) await dispute(order, 'lost')
    for (const state of end === 'open' ? ['open'] : ['open', end]) await disputeSecond(shop, twice, state)
  }
  await quiet(shop)
}

/** The buyer disputes a duplicate capture that has gone back, which the sandbox's own page does not do. */
async function disputeSecond(shop: TestShop, { orderId }: { orderId: string }, state: string): Promise<void> {
  const payment = await shop.sandboxPayment(orderId)
  const { id: captureId, amountMinor } = payment.captures[1]!
  const told = { ...payment, disputes: [{ id: `sbx_dp_${orderId}`, captureId, amountMinor, state }] }
  await sql`update sandbox_payments set payment = payment || ${JSON.stringify(told)} where id = ${payment.processorPaymentId}`.execute(
    shop.db,
  )
  assert.equal((await shop.notify({ payment: told })).status, 200)
}

describe('a shop of the sandbox', () => {
  const ends: (() => unknown)[] = []
  const forAll: Ends = { after: (end) => void ends.push(end) }
  let history = ''
  before(async () => {
    const shop = await startTestShop(forAll)
    await busyHistory(shop)
    await shop.close()
    history = shop.databaseUrl
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })

  test('a bank takes only the rest of a refunded sale, and held money that went back is no loss', async (t) => {
    const { db, close } = connect({ connectionString: await copyOf(t, history) }, { connections: 1 })
    const sides = sql`(select order_id, currency, credit_account as account, amount_minor as minor from transfers
      union all select order_id, currency, debit_account, -amount_minor from transfers)`
    const lost = await query<{ said: string }>(
      db,
      sql`select currency || ' ' || max(abs(minor)) as said from (
          select currency, sum(minor) as minor from ${sides} s where order_id in
            (select id from orders where state = 'charged_back' and refunded_minor > 0) group by currency, account) n
        group by currency order by 1`,
    )
    const held = await query<{ said: string }>(
      db,
      sql`select currency || ' ' || sum(minor) as said from ${sides} s where account = 'held' group by currency order by 1`,
    )
    await close()
    assert.deepEqual(
      lost.map(({ said }) => said),
      ['JPY 0', 'KWD 0', 'USD 0'],
    )
    // an amount other than the price is held in each; of dollars a bank has just now taken the money that had gone back
    assert.deepEqual(
      held.map(({ said }) => said),
      ['JPY 2999', 'KWD 12344', 'USD -1'],
    )
  })

  test('after a busy history nothing differs, and the report has each day’s money', async () => {
    const result = await reconciliationOfSandbox(history)
    assert.deepEqual([result.differences, result.notAsked], [[], []])
    const money = result.days.map(({ currency, kind, listed, ours, listedMinor, ourMinor }) => {
      assert.deepEqual([listed, listedMinor], [ours, ourMinor])
      return `${currency} ${kind} ${ours}`
    })
    // ten captures each: seven plain ones, two of a double capture, and a wrong amount
    for (const currency of ['USD', 'JPY', 'KWD'])
      for (const said of [`${currency} capture 10`, `${currency} refund 7`, `${currency} dispute 4`])
        assert(money.includes(said), `${said} is not in ${money.join(', ')}`)
  })

  const SALE = `(select order_id from captures where purpose = 'sale' and currency = 'USD'
    and order_id in (select id from orders where state = 'paid') order by order_id limit 1)`
  const SECOND_DISPUTED = `(select c.order_id from captures c join disputes d using (processor, processor_capture_id)
    where c.purpose = 'duplicate' and d.state = 'open')`
  const LOST_IN_PART = `(select id from orders where state = 'charged_back' and refunded_minor > 0 and currency = 'USD')`
  const entry = (kind: string, debit: string, credit: string, minor: string, cause = `'sandbox:x:1'`, order = SALE) =>
    `insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency)
      select '${kind}', ${cause}, o.id, ${debit}, ${credit}, ${minor}, o.currency from orders o where o.id = ${order}`
  const seller = `'seller:' || o.seller_id`
  const ofPayment = (change: string) =>
    `update sandbox_payments set payment = ${change} where payment->>'orderId' = ${SALE}`
  const WON = `(select d.order_id from disputes d join orders o on o.id = d.order_id where d.state = 'won' and o.currency = 'USD')`
  /** The processor calls a dispute otherwise that is won here, and that began so many days ago. */
  const wonBecomes = (state: string, days: number) =>
    `with held as (update transfers set created_at = created_at - interval '${days} days' where kind = 'dispute_hold' and order_id = ${WON})
      update sandbox_payments set payment = jsonb_set(payment, '{disputes,0,state}', '"${state}"') where payment->>'orderId' = ${WON}`

  const LOST_BECOMES_WON = `with held as (update transfers set created_at = created_at - interval '20 days' where kind = 'dispute_hold' and order_id = ${LOST_IN_PART})
      update sandbox_payments set payment = jsonb_set(payment, '{disputes,0,state}', '"won"') where payment->>'orderId' = ${LOST_IN_PART}`

  const PLANTED: Record<string, { by: string; found: string[] }> = {
    'a sale that was never booked': {
      by: `delete from transfers where kind = 'sale' and order_id = ${SALE}`,
      found: ['not_booked', 'sale_differs'],
    },
    'a fee that was never taken': {
      by: `delete from transfers where kind = 'fee' and order_id = ${SALE}`,
      found: ['fee_differs'],
    },
    'a fee of one cent more': {
      by: `update transfers set amount_minor = amount_minor + 1 where kind = 'fee' and order_id = ${SALE}`,
      found: ['fee_differs'],
    },
    'a sale booked twice': {
      by: entry('sale', `'processor:sandbox'`, seller, '1925', `'sandbox:capture:again'`),
      found: ['booked_only', 'sale_differs'],
    },
    'a sale of another amount': {
      by: `update transfers set amount_minor = amount_minor - 1 where kind = 'sale' and order_id = ${SALE}`,
      found: ['booked_differently', 'sale_differs'],
    },
    'a sale in another currency': {
      by: `update transfers set currency = 'EUR' where kind = 'sale' and order_id = ${SALE}`,
      found: ['booked_differently', 'wrong_currency'],
    },
    'a sale of another seller': {
      by: `update transfers set credit_account = 'seller:sel_nobody' where kind = 'sale' and order_id = ${SALE}`,
      found: ['wrong_accounts'],
    },
    'an entry of no order': {
      by: `insert into transfers values ('held', 'sandbox:capture:x', 'ord_none', 'processor:sandbox', 'held', 5, 'USD')`,
      found: ['booked_only', 'transfer_without_order'],
    },
    'a fee that went back and more': {
      by: entry('fee_refund', `'fees'`, seller, 'o.fee_minor + 1'),
      found: ['fee_below_zero', 'fee_returned_differs'],
    },
    'a fee that went back with no refund': {
      by: entry('fee_refund', `'fees'`, seller, '1'),
      found: ['fee_returned_differs'],
    },
    'money that was returned and never held': {
      by: entry('returned', `'held'`, `'processor:sandbox'`, '100', `'sandbox:refund:x'`),
      found: ['booked_only', 'held_below_zero'],
    },
    'held money that a bank disputes, and that went back once more': {
      by: entry('returned', `'held'`, `'processor:sandbox'`, '2000', `'sandbox:refund:x'`, SECOND_DISPUTED),
      found: ['balance_below_zero', 'booked_only', 'held_below_zero'],
    },
    'a cent too much that a lost dispute took': {
      by: `update transfers set amount_minor = amount_minor + case kind when 'dispute_loss' then 1 else -1 end
        where kind in ('dispute_loss', 'dispute_release') and order_id = ${LOST_IN_PART}`,
      found: ['booked_differently'],
    },
    'what a lost dispute let go of, and nobody has': {
      by: `delete from transfers where kind = 'dispute_release' and order_id = ${LOST_IN_PART}`,
      found: ['not_booked'],
    },
    'money back from a dispute that was never lost': {
      by: entry('dispute_return', `'processor:sandbox'`, seller, '5', `'sandbox:dispute:x:0'`),
      found: ['not_booked', 'state_differs'],
    },
    'more back from a lost dispute than is known': {
      by: entry(
        'dispute_return',
        `'processor:sandbox'`,
        seller,
        '5',
        `(select processor || ':dispute:' || processor_dispute_id
        || ':1' from disputes where state = 'lost' and order_id = ${LOST_IN_PART})`,
        LOST_IN_PART,
      ),
      found: ['booked_differently', 'state_differs'],
    },
    'a loss of held money that nobody had': {
      by: entry('held_loss', `'held'`, seller, '5', `'sandbox:dispute:x'`),
      found: ['held_below_zero', 'wrong_accounts'],
    },
    'a dispute that ended and never began': {
      by: entry('dispute_release', `'disputed'`, seller, '2000', `'sandbox:dispute:x'`),
      found: ['balance_below_zero', 'booked_only', 'disputed_below_zero'],
    },
    'a refund that only the order knows': {
      by: `update orders set refunded_minor = 5 where id = ${SALE}`,
      found: ['refunded_differs'],
    },
    'a state that the money does not have': {
      by: `update orders set state = 'charged_back' where id = ${SALE}`,
      found: ['state_differs'],
    },
    'a part refunded that is called all of it taken by a bank': {
      by: `update orders set state = 'charged_back' where id = (select id from orders where state = 'partially_refunded' limit 1)`,
      found: ['state_differs'],
    },
    'an order called paid without money': {
      by: `update orders set state = 'paid', paid_at = now() where id = (select id from orders where state = 'pending' limit 1)`,
      found: ['fee_differs', 'paid_without_capture', 'sale_differs'],
    },
    'money of an order that is called expired': {
      by: `update orders set state = 'expired', paid_at = null where id = ${SALE}`,
      found: ['captured_and_not_paid', 'fee_differs', 'sale_differs'],
    },
    'a capture that was forgotten': {
      by: `delete from captures where order_id = ${SALE}`,
      found: ['booked_only', 'only_at_processor', 'paid_without_capture'],
    },
    'a charge that only the processor knows': {
      by: ofPayment(
        `jsonb_insert(payment, '{captures,0}', (payment->'captures'->0) || '{"id": "sbx_ch_planted", "amountMinor": 7}')`,
      ),
      found: ['only_at_processor'],
    },
    'a charge that only we know': { by: ofPayment(`payment || '{"captures": []}'`), found: ['only_here'] },
    'a charge of another amount there': {
      by: ofPayment(`jsonb_set(payment, '{captures,0,amountMinor}', '1924')`),
      found: ['amount_differs'],
    },
    'a charge of another currency there': {
      by: ofPayment(`jsonb_set(payment, '{captures,0,currency}', '"EUR"')`),
      found: ['amount_differs'],
    },
    'a charge of another day here': {
      by: `update captures set captured_at = captured_at - interval '1 day' where order_id = ${SALE}`,
      found: ['day_differs'],
    },
    'a refund that only we know': {
      by: `update sandbox_payments set payment = payment || '{"refunds": []}'
        where payment->>'orderId' = (select id from orders where state = 'partially_refunded' limit 1)`,
      found: ['only_here'],
    },
    'a dispute that only the processor knows': {
      by: ofPayment(`payment || jsonb_build_object('disputes', jsonb_build_array(jsonb_build_object('id', 'sbx_dp_x', 'state', 'open',
        'captureId', payment->'captures'->0->>'id', 'amountMinor', 5)))`),
      found: ['only_at_processor'],
    },
    'a dispute that the bank has decided since': {
      by: `with held as (update transfers set created_at = created_at - interval '20 days' where kind = 'dispute_hold')
        update sandbox_payments set payment = jsonb_set(payment, '{disputes,0,state}', '"won"')
        where payment->>'orderId' = ${SECOND_DISPUTED}`,
      found: ['dispute_decided'],
    },
    'a dispute won here that the bank has decided for the buyer after all': {
      by: wonBecomes('lost', 170),
      found: ['dispute_reopened'],
    },
    'a dispute won here that the bank has opened again': { by: wonBecomes('open', 2), found: ['dispute_reopened'] },
    'a dispute lost here that the bank has decided for the seller after all': {
      by: LOST_BECOMES_WON,
      found: ['dispute_won_late'],
    },
    'nothing in a dispute won long ago': { by: wonBecomes('lost', 181), found: [] },
    'nothing in a dispute that was won after the processor had answered': {
      by: `with release as (update transfers set created_at = now() + interval '1 hour' where kind = 'dispute_release' and order_id = ${WON}),
        ${wonBecomes('open', 2).slice('with '.length)}`,
      found: [],
    },
    'nothing in a decision that came just after its dispute': {
      by: `update sandbox_payments set payment = jsonb_set(payment, '{disputes,0,state}', '"won"')
        where payment->>'orderId' = ${SECOND_DISPUTED}`,
      found: [],
    },
    'nothing in an open dispute of last year, whose payment was another account’s': {
      by: `with c as (update captures set captured_at = captured_at - interval '1 year' where order_id = ${SECOND_DISPUTED}),
        t as (update transfers set created_at = created_at - interval '1 year' where order_id = ${SECOND_DISPUTED})
        delete from sandbox_payments where payment->>'orderId' = ${SECOND_DISPUTED}`,
      found: [],
    },
    'a payment that its processor does not know': {
      by: `delete from sandbox_payments where payment->>'orderId' = ${SALE}`,
      found: ['only_here'],
    },
    'money for an order of ours that is not there any more': {
      by: `insert into sandbox_payments (id, start_key, payment) select 'sbx_pi_lost', 'lost', payment
        || '{"processorPaymentId": "sbx_pi_lost", "orderId": "ord_00000000000000000000000000"}' || '{"refunds": [], "disputes": []}'
        || jsonb_build_object('captures', jsonb_build_array((payment->'captures'->0) || '{"id": "sbx_ch_lost"}'))
        from sandbox_payments where payment->>'orderId' = ${SALE}`,
      found: ['only_at_processor'],
    },
    'nothing but somebody else’s money': {
      by: `insert into sandbox_payments (id, start_key, payment) select 'sbx_pi_other', 'other', (payment - 'orderId')
        || '{"processorPaymentId": "sbx_pi_other"}' || '{"refunds": [], "disputes": []}'
        || jsonb_build_object('captures', jsonb_build_array((payment->'captures'->0) || '{"id": "sbx_ch_other"}'))
        from sandbox_payments where payment->>'orderId' = ${SALE}`,
      found: [],
    },
  }

  for (const [name, { by, found }] of Object.entries(PLANTED))
    test(`it finds ${name}`, async (t) => {
      const url = await copyOf(t, history)
      assert(await planted(url, by), 'nothing was planted')
      const result = await reconciliationOfSandbox(url)
      assert.deepEqual(kindsOf(result), found, JSON.stringify(result.differences, undefined, 1))
      const { days } = result
      if (found.some((what) => ['only_at_processor', 'only_here', 'amount_differs', 'day_differs'].includes(what)))
        assert(
          days.some((one) => one.listedMinor !== one.ourMinor),
          'and the days show it',
        )
      for (const { id, orderId } of result.differences) assert(id && !/@/.test(`${id} ${orderId}`))
    })

  test('the command prints everything, and its exit status is the verdict', async (t) => {
    const url = await copyOf(t, history)
    const fine = await reconcileCommand(t, url)
    assert.equal(fine.status, 0, fine.output)
    assert.match(fine.output, /Reconciled: /)
    // a line for each day: a run that meets midnight has two
    const counts = [...fine.output.matchAll(/USD +sandbox +captured +(\d+) /g)].map(([, count]) => Number(count))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      10,
      fine.output,
    )
    assert.doesNotMatch(fine.output, /≠|@/)
    await planted(url, PLANTED['a fee of one cent more']!.by)
    await planted(url, PLANTED['a charge of another day here']!.by)
    const odd = await reconcileCommand(t, url)
    assert.equal(odd.status, 1, odd.output)
    assert.match(odd.output, /fee_differs {2}ord_\w{26} {2}should be 0\.38 USD, is 0\.39 USD/)
    assert.match(odd.output, /day_differs {2}sandbox:capture:sbx_ch_\w+ {2}ord_\w{26}/)
    assert.match(odd.output, /≠[^]*NOT EQUAL: 2 differences\./)
    assert.doesNotMatch(odd.output, /@/)
    for (const args of [
      ['--days', 'many'],
      ['--from', '2026-13-01'],
      ['--from', '2026-02-31'],
      ['--from', '2026-02-01', '--to', '2026-01-01'],
      ['--x'],
    ])
      assert.equal((await reconcileCommand(t, url, args)).status, 2, args.join(' '))
    const past = await reconcileCommand(t, url, ['--from', '2020-01-01', '--to', '2020-01-31'])
    assert.equal(past.status, 1, 'the books reconcile as a whole, whatever the days')
    assert.doesNotMatch(past.output, /day_differs/)
    const away = {
      STRIPE_SECRET_KEY: 'sk_test_x',
      STRIPE_PUBLISHABLE_KEY: 'pk_test_x',
      STRIPE_WEBHOOK_SECRET: 'whsec_x',
    }
    const unreconciled = await reconcileCommand(t, await copyOf(t, history), ['--days', '1'], {
      ...away,
      STRIPE_API_URL: 'http://127.0.0.1:9',
    })
    assert.equal(unreconciled.status, 2, unreconciled.output)
    assert.match(unreconciled.output, /stripe: its list[^]*sandbox: is not configured[^]*Not reconciled/)
    assert.equal((await reconcileCommand(t, url.replace(/[^/]+$/, 'no_such_database'))).status, 2)
  })

  test('it writes nothing', async (t) => {
    const url = await copyOf(t, history)
    const sums = async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const tables = [
        'orders',
        'payments',
        'captures',
        'refunds',
        'disputes',
        'transfers',
        'order_events',
        'sandbox_payments',
      ]
      const found: string[] = []
      for (const table of tables) {
        const { rows } = await client.query(
          `select md5(string_agg(t::text, ',' order by t::text)) as sum from ${table} t`,
        )
        found.push(rows[0].sum)
      }
      await client.end()
      return found
    }
    const before = await sums()
    await reconciliationOfSandbox(url)
    assert.deepEqual(await sums(), before)
  })
})

test('a night’s days end with the last midnight; there are 15, and more after nights without a reconciliation', () => {
  const now = new Date('2026-11-21T03:17:05Z')
  const spanAfter = (latestReconciliation?: string) => {
    const { from, to, days } = nightlySpan(now, latestReconciliation ? new Date(latestReconciliation) : undefined)
    return [from.toISOString().slice(0, 10), to.toISOString(), days]
  }
  const midnight = '2026-11-21T00:00:00.000Z'
  for (const latest of [undefined, '2026-11-20T03:17:09Z', '2026-11-20T09:00:00Z', '2026-11-21T03:17:01Z'])
    assert.deepEqual(spanAfter(latest), ['2026-11-06', midnight, 15])
  assert.deepEqual(spanAfter('2026-11-19T23:59:00Z'), ['2026-11-05', midnight, 16])
  assert.deepEqual(spanAfter('2026-10-01T03:17:00Z'), ['2026-09-17', midnight, 65])
  assert.deepEqual(spanAfter('2020-01-01T03:17:00Z'), ['2026-08-23', midnight, 90])
})

test('each night’s reconciliation sets the metrics for an alarm, on whichever instance it ran', async (t) => {
  const stripe = await startStripeServer()
  atEnd(t, stripe.close)
  const [stream, lines] = [new PassThrough(), [] as string[]]
  stream.on('data', (line) => lines.push(String(line)))
  const shop = await startTestShop(t, {
    env: { ...stripeSettings(stripe), PROCESSORS: 'sandbox,stripe' },
    log: pino({ level: 'warn' }, stream),
  })
  const measured = async () => {
    const { body } = await shop.call<string>('GET', '/metrics')
    return /^till_reconciliation_differences (\S+)$/m.exec(body)?.[1]
  }
  const jobs = await startJobs({ connectionString: shop.databaseUrl }, newLog('silent'))
  atEnd(t, () => jobs.stop())
  const reconciliations = () => query(shop.db, sql`select at from proofs`)
  const night = async () => {
    const before = (await reconciliations()).length
    await inTransaction(shop.db, (tx) => jobs.add(tx, 'reconciliation', [{ data: {} }]))
    await eventually(reconciliations, (all) => all.length > before)
  }
  assert.equal(await measured(), 'Nan')
  const order = await shop.paid()
  await quiet(shop)
  await night()
  assert.equal(await measured(), '0')
  assert.match((await shop.call<string>('GET', '/metrics')).body, /^till_reconciliation_timestamp_seconds \d{10}$/m)

  // the list of Stripe cannot be read where it begins so long ago
  const listFails = () =>
    stripe.fail('503 html', {
      times: 9,
      match: ({ path, params }) => path === '/v1/charges' && params['created'].gte < Date.now() / 1000 - 30 * 86_400,
    })
  const notAsked = async () => {
    stripe.works()
    listFails()
    await night()
    return query(shop.db, sql`select not_asked as count from proofs order by at desc limit 1`)
  }
  assert.deepEqual(await notAsked(), [{ count: 0 }])
  await sql`update proofs set at = at - interval '20 days'`.execute(shop.db)
  assert.deepEqual(await notAsked(), [{ count: 1 }], 'nights without a reconciliation are made up for')
  assert.deepEqual(await notAsked(), [{ count: 1 }], 'and so are nights in which not all could be asked')
  await sql`update proofs set not_asked = 1`.execute(shop.db)
  assert.deepEqual(await notAsked(), [{ count: 1 }], 'from the first one on, if that was never so')

  // no later night could ask a processor that is not configured any more, so it makes none longer
  await planted(shop.databaseUrl, `update captures set processor = 'razorpay', captured_at = now() - interval '5 days'`)
  await sql`update proofs set at = now(), not_asked = 0 where at = (select max(at) from proofs)`.execute(shop.db)
  assert.deepEqual(await notAsked(), [{ count: 0 }])
  const warned = await eventually(
    async () => lines.filter((line) => line.includes('is not configured any more')),
    (all) => all.length > 0,
  )
  assert.deepEqual(
    warned.map((line) => JSON.parse(line).processor),
    ['razorpay'],
  )
  await planted(shop.databaseUrl, `update captures set processor = 'sandbox', captured_at = now()`)
  await night()
  assert.equal(await measured(), '0')

  await planted(shop.databaseUrl, `update orders set refunded_minor = 5 where id = '${order.orderId}'`)
  await night()
  assert.equal(await measured(), '1')
})
