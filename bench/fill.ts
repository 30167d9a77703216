import { type Database, query } from './world.ts'
import { AMOUNT_MINOR, CURRENCY, FEE_MINOR, idIn, idOf, orderId, paymentId, processorPaymentId } from './sql.ts'

const BUYER = 'buyer@example.com'
export const SELLER = idIn('sel_00b', 1)
export const SELLER_ACCOUNT = `seller:${SELLER}`
/** A shop with one product would have all its orders wait for one row. */
const PRODUCTS = 20
export const productId = idOf('prod_01a')
export const products: string[] = Array.from({ length: PRODUCTS }, (_, n) => idIn('prod_01a', n))

/** Makes a seller with products of three files each, and a queue of jobs that no process takes. */
export async function openShop(database: Database): Promise<void> {
  await query(
    database,
    `insert into sellers (id, name, email, trusted_at) values ('${SELLER}', 'The bench', 'seller@bench.example', now())`,
  )
  await query(
    database,
    `insert into products (id, seller_id, name, status, price_minor, currency, statement_suffix)
      select ${productId('n')}, '${SELLER}', 'A book, volume ' || n, 'active', ${AMOUNT_MINOR}, '${CURRENCY}', 'BOOK ' || n
      from generate_series(0, ${PRODUCTS - 1}) n`,
  )
  await query(
    database,
    `insert into files (id, product_id, name, size_bytes, sha256, content_type)
      select ${idOf('file_01a')('n * 3 + f')}, ${productId('n')}, 'volume ' || n || ', part ' || f || '.pdf',
        1000000 + f, repeat('ab', 32), 'application/pdf'
      from generate_series(0, ${PRODUCTS - 1}) n, generate_series(0, 2) f`,
  )
  await query(database, `select pgboss.create_queue('bench', '{"policy": "standard"}')`)
}

/** Who sells the order n, what, and when it was made: all in SQL. */
export interface Trade {
  seller: string
  product: string
  at: string
}

const OWN_TRADE: Trade = {
  seller: `'${SELLER}'`,
  product: productId(`n % ${PRODUCTS}`),
  at: `now() - interval '1 year' + n * interval '20 seconds'`,
}

/**
 * Orders `first` to `last - 1` of a year of trade, and all that belongs to them: one half was paid, the other was given up.
 * Their ids lie before those of the orders that are made now.
 */
export async function fillOrders(database: Database, first: number, last: number): Promise<void> {
  await withoutForeignKeys(database, () => insertOrders(database, first, last, OWN_TRADE))
  await query(database, 'vacuum (analyze)')
}

export async function insertOrders(
  database: Database,
  first: number,
  last: number,
  { seller, product, at }: Trade,
): Promise<void> {
  const series = `generate_series(${first}::bigint, ${last - 1}) n`
  const paid = 'n % 2 = 0'
  const { order, payment, processorPayment, capture, event } = OLD
  const orders = `insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor,
      statement_descriptor, state, rail, created_at, paid_at, expires_at)
    select ${order}, ${product}, ${seller}, 'buyer' || n || '@example.com', 'A book', ${AMOUNT_MINOR},
      '${CURRENCY}', ${FEE_MINOR}, 'TILL BOOK', case when ${paid} then 'paid' else 'expired' end, case when ${paid} then 'card' end,
      ${at}, case when ${paid} then ${at} + interval '1 minute' end, ${at} + interval '1 day'
    from ${series}`
  const payments = `insert into payments (id, order_id, processor, processor_payment_id, state, created_at)
    select ${payment}, ${order}, 'sandbox', ${processorPayment}, case when ${paid} then 'captured' else 'canceled' end, ${at}
    from ${series}`
  const captures = `insert into captures (processor, processor_capture_id, payment_id, order_id, purpose, amount_minor, currency,
      rail, captured_at)
    select 'sandbox', ${capture}, ${payment}, ${order}, 'sale', ${AMOUNT_MINOR}, '${CURRENCY}', 'card', ${at}
    from ${series} where ${paid}`
  const transfers = `insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency,
      created_at)
    select kind, 'sandbox:capture:' || ${capture}, ${order}, debit, credit, amount, '${CURRENCY}', ${at} from ${series},
      lateral (values ('sale', 'processor:sandbox', 'seller:' || ${seller}, ${AMOUNT_MINOR}),
        ('fee', 'seller:' || ${seller}, 'fees', ${FEE_MINOR})) as t(kind, debit, credit, amount)
    where ${paid}`
  const events = `insert into processor_events (processor, event_id, type, processor_payment_id, outcome, received_at)
    select 'sandbox', ${event}, 'payment.captured', ${processorPayment}, 'applied', ${at} from ${series} where ${paid}`
  const timeline = `insert into order_events (order_id, what, at)
    select ${order}, case when ${paid} then 'paid' else 'expired' end, ${at} from ${series}`

  const byTwo = [
    [orders, timeline, captures, events],
    [payments, transfers],
  ]
  await Promise.all(
    byTwo.map(async (statements) => {
      for (const statement of statements) await query(database, statement)
    }),
  )
}

const oldId = (prefix: string) => idOf(prefix)('n')
/** The ids of the order n and of its rows, in SQL. */
export const OLD = {
  order: oldId('ord_01a'),
  payment: oldId('pay_01a'),
  processorPayment: oldId('sbx_pi_0a'),
  capture: oldId('sbx_ch_0a'),
  event: oldId('evt_01a'),
}

/** A foreign key is checked faster for a whole table once than for each of its rows. */
export async function withoutForeignKeys(database: Database, work: () => Promise<void>): Promise<void> {
  const keys = await query<{ table: string; name: string; definition: string }>(
    database,
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  )
  for (const { table, name } of keys) await query(database, `alter table ${table} drop constraint ${name}`)
  await work()
  for (const { table, name, definition } of keys) {
    await query(database, `alter table ${table} add constraint ${name} ${definition}`)
  }
}

/** Orders that wait for a payment that is open: what settlePayment() and the notifications of the service are about. */
export async function openOrders(database: Database, first: number, last: number): Promise<void> {
  const series = `generate_series(${first}::bigint, ${last - 1}) n`
  await query(
    database,
    `insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor,
        statement_descriptor, expires_at, due_at)
      select ${orderId('n')}, ${productId(`n % ${PRODUCTS}`)}, '${SELLER}', '${BUYER}', 'A book', ${AMOUNT_MINOR}, '${CURRENCY}',
        ${FEE_MINOR}, 'TILL BOOK', now() + interval '1 day', now() + interval '1 hour'
      from ${series}`,
  )
  await query(
    database,
    `insert into payments (id, order_id, processor, processor_payment_id, state)
      select ${paymentId('n')}, ${orderId('n')}, 'sandbox', ${processorPaymentId('n')}, 'open' from ${series}`,
  )
}

/** Scattered over the table, as the orders are that buyers ask for. */
export async function paidOrders(database: Database, count: number): Promise<{ id: string; email: string }[]> {
  return query(
    database,
    `select id, email from orders where state = 'paid' and mod(hashtext(id), 7) = 0 order by hashtext(id) limit ${count}`,
  )
}
