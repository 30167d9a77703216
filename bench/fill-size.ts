import { OLD, insertOrders, withoutForeignKeys } from './fill.ts'
import { openSellers, product, seller } from './fill-sellers.ts'
import { AMOUNT_MINOR, CURRENCY, idOf } from './sql.ts'
import { type Database, query } from './world.ts'

export const ORDERS_A_SELLER = 1000
/** More rows in one statement would only show less progress. */
const AT_ONCE = 500_000
/** The nightly reconciliation reads the processor's list of this many days. */
const LISTED_DAYS = 16

/** A year of trade: each seller has one product with three files, and a thousand orders of it. */
export async function fillSize(database: Database, orders: number, onFilled: (orders: number) => void): Promise<void> {
  const sellers = orders / ORDERS_A_SELLER
  for (const statement of openSellers(sellers)) await query(database, statement)
  await query(
    database,
    `insert into products (id, seller_id, name, status, price_minor, currency, statement_suffix)
      select ${product('s', '0')}, ${seller('s')}, 'A book by seller ' || s, 'active', ${AMOUNT_MINOR}, '${CURRENCY}', 'BOOK ' || s
      from generate_series(0, ${sellers - 1}) s`,
  )
  await query(
    database,
    `insert into files (id, product_id, name, size_bytes, sha256, content_type)
      select ${idOf('file_05b')('s * 3 + f')}, ${product('s', '0')}, 'part ' || f || '.pdf', 1000000 + f,
        repeat('ab', 32), 'application/pdf'
      from generate_series(0, ${sellers - 1}) s, generate_series(0, 2) f`,
  )
  const owner = `(n % ${sellers})`
  // one time for all statements, so that the processor's list has our orders at our times however long the fill takes
  const [{ now } = { now: '' }] = await query<{ now: string }>(database, 'select now()::text as now')
  const at = `timestamptz '${now}' - interval '1 year' + n * (interval '1 year' / ${orders}) - interval '10 minutes'`
  await withoutForeignKeys(database, async () => {
    for (let first = 0; first < orders; first += AT_ONCE) {
      const last = Math.min(first + AT_ONCE, orders)
      await insertOrders(database, first, last, { seller: seller(owner), product: product(owner, '0'), at })
      onFilled(last)
    }
    await query(database, sandboxPayments(orders, at))
  })
  await query(database, 'vacuum (analyze)')
}

/** The processor's side of the last days. A processor's list has no more than the days that it is asked about. */
const sandboxPayments = (orders: number, at: string) => `
  insert into sandbox_payments (id, start_key, payment)
  select ${OLD.processorPayment}, 'bench ' || n, jsonb_build_object('processorPaymentId', ${OLD.processorPayment}, 'orderId', ${OLD.order},
    'state', 'captured', 'rail', 'card', 'declines', 0, 'amountMinor', ${AMOUNT_MINOR}, 'currency', '${CURRENCY}',
    'captures', jsonb_build_array(jsonb_build_object('id', ${OLD.capture}, 'amountMinor', ${AMOUNT_MINOR}, 'currency', '${CURRENCY}',
      'rail', 'card', 'capturedAt', to_char((${at}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))),
    'refunds', '[]'::jsonb, 'disputes', '[]'::jsonb)
  from generate_series(0, ${orders - 1}) n where n % 2 = 0 and ${at} > now() - interval '${LISTED_DAYS} days'`
