import type { Wire } from '../stand-ins/stripe-bank.ts'
import { STRIPE_FACTOR } from './bank-records.ts'
import type { Order } from './books.ts'
import type { Run } from './run.ts'

// Invariants where sellers have accounts of their own at Stripe: the fees there are those of the books, and the payouts are Stripe's.

const minorOf = ({ amount, currency }: Wire): number => amount / (STRIPE_FACTOR[String(currency).toUpperCase()] ?? 1)

interface Mirrored {
  id: string
  account: string
  currency: string
  amount: string
  state: 'sent' | 'paid' | 'failed' | 'reversed'
  items: string | null
}

const MIRRORED = `
  select p.processor_payout_id as id, split_part(p.processor, '@', 2) as account, p.currency, p.amount_minor::text as amount, p.state,
    case when p.itemised_at is not null then (select coalesce(string_agg(i.id, ' ' order by i.id), '') from processor_payout_items i
      where i.payout_id = p.id) end as items
  from processor_payouts p`

/** At every moment. */
export async function problemsOfAccounts(run: Run): Promise<string[]> {
  const { client, stripe } = run.world
  const { rows } = await client.query<Mirrored>(MIRRORED)
  const keys = stripe.connect.accounts.map(({ metadata }) => metadata.connection_id)
  return [
    ...(new Set(keys).size === keys.length ? [] : ['a seller got two accounts']),
    ...(stripe.bank.charges.length > 0 ? ['a seller’s buyer paid at the service’s own account'] : []),
    ...rows.flatMap((row) => problemsOfPayout(run, row)),
  ]
}

const payoutsOf = ({ world: { stripe } }: Run): { account: string; payout: Wire; items: string }[] =>
  stripe.connect.banks().flatMap((bank) =>
    bank.payouts.map((payout) => ({
      account: bank.accountId,
      payout,
      items: bank.balanceTransactions
        .filter((one) => one['payout'] === payout['id'] && one['type'] !== 'payout')
        .map(({ id }) => String(id))
        .sort()
        .join(' '),
    })),
  )

/** Where Stripe's payouts can be when they are so here. */
const FROM: Record<Mirrored['state'], readonly string[]> = {
  sent: ['in_transit', 'paid', 'failed'],
  paid: ['paid', 'failed'],
  failed: ['failed'],
  reversed: ['failed'],
}

function problemsOfPayout(run: Run, { id, account, currency, amount, state, items }: Mirrored): string[] {
  const at = payoutsOf(run).find(({ payout }) => payout['id'] === id)
  const isSame =
    at?.account === account &&
    minorOf(at.payout) === Number(amount) &&
    at.payout['currency'].toUpperCase() === currency &&
    FROM[state].includes(at.payout['status'])
  return [
    ...(isSame ? [] : [`${id} is ${state} over ${amount} ${currency}, and at Stripe ${JSON.stringify(at?.payout)}`]),
    ...(items === null || items === at?.items ? [] : [`${id} is made of ${items}, at Stripe of ${at?.items}`]),
  ]
}

/** When everything has happened, of one order: our fee at Stripe is the fee in the books. */
export function problemsOfFeeAtTheEnd(run: Run, order: Order): string[] {
  const { connect } = run.world.stripe
  const booked = (...kinds: string[]) =>
    order.transfers.reduce((sum, { kind, amountMinor }) => sum + (kinds.includes(kind) ? amountMinor : 0), 0)
  return order.captures
    .flatMap(({ id, purpose, amountMinor }) => {
      const fee = connect.fees.find(({ charge }) => charge === id)
      const [taken, back] = [fee ? minorOf(fee) : 0, fee ? minorOf({ ...fee, amount: fee['amount_refunded'] }) : 0]
      const isBack = order.refunds.every(({ state }) => state === 'succeeded') && refundedOf(order, id) === amountMinor
      // the service has no part of money that paid for nothing
      if (purpose !== 'sale')
        return isBack && back < taken ? [`${id} went back, and of its fee ${taken} only ${back}`] : []
      const [most, least] = [booked('fee_refund'), booked('fee_refund') - booked('fee_again')]
      return [
        ...(taken === booked('fee') ? [] : [`the fee is ${booked('fee')}, and Stripe took ${taken}`]),
        // a fee that went back with a refund that failed then cannot be taken again
        ...(back >= least && back <= most
          ? []
          : [`of the fee ${taken}, Stripe gave ${back} back, not ${least} to ${most}`]),
      ]
    })
    .map((problem) => `${order.id}, at the end: ${problem}`)
}

/** The accounts that are read: one that ended our access is not, once its seller has another. */
async function readAccounts({ world: { client } }: Pick<Run, 'world'>): Promise<Set<string>> {
  const { rows } = await client.query<{ account: string }>(
    `select account from connected_accounts where account is not null and ended_at is null`,
  )
  return new Set(rows.map(({ account }) => account))
}

const refundedOf = ({ refunds }: Order, capture: string): number =>
  refunds.reduce((sum, { captureId, amountMinor }) => sum + (captureId === capture ? amountMinor : 0), 0)

/** When everything has happened: each payout of Stripe's is here, in the state that it has there. */
export async function problemsOfPayoutsAtTheEnd(run: Run): Promise<string[]> {
  const { rows } = await run.world.client.query<Mirrored>(MIRRORED)
  const known = new Map(rows.map((row) => [row.id, row]))
  const read = await readAccounts(run)
  return payoutsOf(run).flatMap(({ account, payout }) => {
    if (!read.has(account)) return []
    const here = known.get(payout['id'])
    const wanted = payout['status'] === 'failed' ? ['failed', 'reversed'] : payout['status'] === 'paid' ? ['paid'] : ['sent'] // oxfmt-ignore
    if (here && wanted.includes(here.state) && here.items !== null) return []
    return [`${payout['id']} is ${payout['status']} at Stripe, and here ${here?.state}${here && here.items === null ? ', without its items' : ''}`] // oxfmt-ignore
  })
}

/** The money at sellers' accounts by the books, by currency: all that came and did not go back, without open disputes. */
const AT_ACCOUNTS = `
  select currency, sum(minor)::text as minor from (
    select currency, amount_minor as minor from transfers where debit_account like 'processor:stripe@%' or debit_account = 'disputed'
    union all
    select currency, -amount_minor from transfers where credit_account like 'processor:stripe@%' or credit_account = 'disputed') as sides
  group by 1`

/**
 * By how much the books and Stripe differ, by currency. The money at sellers' banks and accounts and in our fees at Stripe is the money
 * that buyers paid and did not get back.
 */
export async function accountsOff({ world }: Pick<Run, 'world'>): Promise<Map<string, number>> {
  const { client, stripe } = world
  const { rows } = await client.query<{ currency: string; minor: string }>(AT_ACCOUNTS)
  const read = await readAccounts({ world })
  const paidOut = await client.query<{ currency: string; minor: string }>(
    `select currency, sum(amount_minor)::text as minor from processor_payouts
     where state in ('sent', 'paid') and split_part(processor, '@', 2) = any($1) group by 1`,
    [[...read]],
  )
  const off = new Map<string, number>()
  const add = (currency: string, minor: number) => off.set(currency, (off.get(currency) ?? 0) + minor)
  for (const { currency, minor } of rows) add(currency, -Number(minor))
  for (const { currency, minor } of paidOut.rows) add(currency, Number(minor))
  for (const { accountId, balanceTransactions } of stripe.connect.banks())
    for (const { currency, net, source, type } of balanceTransactions) {
      // payments from elsewhere are in no books; of an account that is not read no payout is
      const isLeftOut = source === 'ch_elsewhere' || (type.startsWith('payout') && !read.has(accountId))
      if (!isLeftOut) add(currency.toUpperCase(), minorOf({ amount: net, currency }))
    }
  for (const fee of stripe.connect.fees)
    add(fee['currency'].toUpperCase(), minorOf({ ...fee, amount: fee['amount'] - fee['amount_refunded'] }))
  return off
}
