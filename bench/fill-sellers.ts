import { withoutForeignKeys } from './fill.ts'
import { AMOUNT_MINOR, CURRENCY, FEE_MINOR, idIn, idOf, numberOf } from './sql.ts'
import { hashOf } from '../src/kit/tokens.ts'
import { type Database, query } from './world.ts'

// A thousand sellers and their million orders: one of them has a tenth of it and a thousand products, the others ten products each.

export const SELLERS = 1000
const PRODUCTS = 10
export const PRODUCTS_OF_LARGE = 1000
/** The large seller has one in this many orders. */
const SHARE_OF_LARGE = 10
/** The large one is the first. */
export const LARGE = 0

export const tokenOf = (n: number): string => `seller${n}`.padEnd(43, '_')
export const cookieOf = (n: number): Record<string, string> => ({ cookie: `till_session=${tokenOf(n)}` })
export const productOf = (seller: number, n: number): string => idIn('prod_05b', seller * PRODUCTS_OF_LARGE + n)

export const seller = (n: string) => idOf('sel_05b')(n)
export const product = (owner: string, n: string) => idOf('prod_05b')(`(${owner}) * ${PRODUCTS_OF_LARGE} + ${n}`)
/** Whose the order n is. */
const owner = `(case when n % ${SHARE_OF_LARGE} = 0 then ${LARGE} else 1 + n % ${SELLERS - 1} end)`
/** When it was made: over a year. */
const at = (orders: number) => `now() - interval '1 year' + n * interval '1 year' / ${orders}`
const isPaid = 'n % 20 < 13'

/** The sign-in data of one person, made without the service. */
export async function openSession(database: Database, sellerId: string, n: number): Promise<void> {
  await query(database, `insert into sessions (id, token_hash, seller_id, method) values (${idOf('ses_05b')(`${n}`)}, $1, $2, 'code')`, [
    hashOf(tokenOf(n)),
    sellerId,
  ]) // oxfmt-ignore
}

/** Sellers 0 to `count - 1`, each of whom is signed in. */
export const openSellers = (count: number): string[] => [
  `insert into sellers (id, name, email)
    select ${seller('n')}, 'Seller ' || n, 'seller' || n || '@sellers.example' from generate_series(0, ${count - 1}) n`,
  `insert into sessions (id, token_hash, seller_id, method)
    select ${idOf('ses_05b')('n')}, sha256(convert_to(rpad('seller' || n, 43, '_'), 'UTF8')), ${seller('n')}, 'code'
    from generate_series(0, ${count - 1}) n`,
]

/** Needs a database with the schema and little in it. */
export async function fillSellers(database: Database, orders: number): Promise<void> {
  const statements = [
    ...openSellers(SELLERS),
    `insert into products (id, seller_id, name, status, price_minor, currency, statement_suffix)
      select ${product('s', 'p')}, ${seller('s')}, (array['Poems', 'Novel', 'Course', 'Font'])[1 + p % 4] || ', volume ' || p,
        'active', ${AMOUNT_MINOR}, '${CURRENCY}', 'BOOK ' || p
      from generate_series(0, ${SELLERS - 1}) s,
        generate_series(0, case when s = ${LARGE} then ${PRODUCTS_OF_LARGE} else ${PRODUCTS} end - 1) p`,
    `insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
        state, rail, refunded_minor, created_at, paid_at, expires_at)
      select ${idOf('ord_05b')('n')},
        ${product(owner, `n / ${SHARE_OF_LARGE} % (case when ${owner} = ${LARGE} then ${PRODUCTS_OF_LARGE} else ${PRODUCTS} end)`)},
        ${seller(owner)}, left(md5(n::text), 8) || '@example.com', 'A book', ${AMOUNT_MINOR}, '${CURRENCY}', ${FEE_MINOR},
        'TILL BOOK',
        case when n % 20 = 1 then 'refunded' when ${isPaid} then 'paid' when n % 5000 = 4990 then 'disputed' else 'expired' end,
        case when ${isPaid} or n % 5000 = 4990 then (array['card', 'upi', 'apple_pay'])[1 + n % 3] end,
        case when n % 20 = 1 then ${AMOUNT_MINOR} else 0 end, ${at(orders)},
        case when ${isPaid} or n % 5000 = 4990 then ${at(orders)} + interval '1 minute' end, ${at(orders)} + interval '1 day'
      from generate_series(0, ${orders - 1}) n`,
    `insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency, created_at)
      select kind, 'bench:' || n, ${idOf('ord_05b')('n')}, replace(debit, '?', ${seller(owner)}), replace(credit, '?', ${seller(owner)}),
        amount, '${CURRENCY}', ${at(orders)} + interval '1 minute'
      from generate_series(0, ${orders - 1}) n,
        (values ('sale', 'processor:sandbox', 'seller:?', ${AMOUNT_MINOR}), ('fee', 'seller:?', 'fees', ${FEE_MINOR}))
          as t(kind, debit, credit, amount)
      where ${isPaid}`,
  ]
  await withoutForeignKeys(database, async () => {
    for (const statement of statements) await query(database, statement)
  })
  await query(database, 'vacuum (analyze)')
}

/** Inserts orders of the large seller and of some others, as checkouts would make them. */
export async function someOrders(
  database: Database,
  count: number,
): Promise<{ seller: number; id: string; email: string; productId: string }[]> {
  const rows = await query<{ sellerId: string; id: string; email: string; productId: string }>(
    database,
    `select seller_id as "sellerId", id, email, product_id as "productId" from orders
      where seller_id <> ${seller(`${LARGE}`)} and mod(hashtext(id), 97) = 0 order by hashtext(id) limit ${count}`,
  )
  return rows.map(({ sellerId, ...order }) => ({
    seller: numberOf('sel_05b', sellerId),
    ...order,
  }))
}
