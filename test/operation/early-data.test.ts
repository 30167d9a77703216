import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { type Connection, connect } from '../../src/kit/database.ts'
import { migrate } from '../../src/kit/migrate.ts'
import { trialBalance } from '../../src/ledger/trial-balance.ts'
import { atEnd } from '../support/ends.ts'
import { emptyDatabase } from '../support/databases.ts'
import { type Ends, newDatabase, startTestShop, temporaryFolder } from '../support/shop.ts'

// Databases as the earlier commits made them. Some migrations were changed after they had landed; `early-schemas` has the former texts.

const SCHEMA = fileURLToPath(new URL('../../schema', import.meta.url))
const EARLY = fileURLToPath(new URL('./early-schemas', import.meta.url))
const to = (last: number, ...more: number[]) => [...Array.from({ length: last }, (_, at) => at + 1), ...more]
const TO_040 = to(24, 26, 27, 28, 29, 30, 31, 32, 35, 36, 37, 40)
/** The numbers of the migrations that a commit had, and the commits of the former texts among them. */
const COMMITS: Record<string, { has: number[]; former?: Record<string, string> }> = {
  '1d5c863, the first': { has: to(7) },
  a0cd2ae: { has: to(8), former: { '008': 'a0cd2ae' } },
  '498ac51': { has: to(9, 11), former: { '011': '498ac51' } },
  '69ed4ca': { has: to(11), former: { '010': '69ed4ca', '011': '498ac51' } },
  c813888: { has: to(13, 17), former: { '017': 'c813888' } },
  f7db642: { has: to(14, 17), former: { '014': 'f7db642', '017': 'c813888' } },
  '6856ab0': { has: to(17), former: { '014': 'f7db642', '017': '6856ab0' } },
  '9d26e2f': { has: to(17), former: { '014': 'f7db642' } },
  '5ff40ef': { has: to(18) },
  a82f460: { has: to(23) },
  '94adbd2': { has: TO_040, former: { '029': '94adbd2', '030': '94adbd2', '032': '94adbd2', '040': '94adbd2' } },
  '8d56995': { has: TO_040, former: { '029': '94adbd2', '032': '94adbd2', '040': '94adbd2' } },
  f328813: { has: TO_040, former: { '029': '94adbd2' } },
}

const ID = '01m7y9ddw03mvznr65rfk4ah2z'
const ORDER = `ord_${ID}`
const PAYMENT = { processorPaymentId: 'pi_1', orderId: ORDER, state: 'captured', declines: 0, disputes: [], refunds: [], captures: [{ processorCaptureId: 'ch_1', amountMinor: 1900, currency: 'USD', rail: 'card', capturedAt: '2026-11-01T10:00:00.000Z' }] } // oxfmt-ignore
const ROWS = `
  insert into sellers (id, name, email) values ('sel_${ID}', 'Ann', 'early@shop.test');
  insert into products (id, seller_id, name, status, price_minor, currency, statement_suffix)
    values ('prod_${ID}', 'sel_${ID}', 'A book', 'active', 1900, 'USD', 'A BOOK');
  insert into files (id, product_id, name, size_bytes, sha256, content_type)
    values ('file_${ID}', 'prod_${ID}', 'book.pdf', 6, repeat('a', 64), 'application/pdf');
  insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor, state, rail, created_at, paid_at, expires_at)
    values ('${ORDER}', 'prod_${ID}', 'sel_${ID}', 'bob@example.com', 'A book', 1900, 'USD', 38, 'TILL A BOOK', 'paid', 'card', '2026-11-01', '2026-11-01', '2026-11-02'),
      ('ord_${ID.replace(/z$/, 'y')}', 'prod_${ID}', 'sel_${ID}', 'eve@example.com', 'A book', 1900, 'USD', 38, 'TILL A BOOK', 'expired', null, '2026-11-01', null, '2026-11-02');
  insert into order_events (order_id, what) values ('${ORDER}', 'paid');
  insert into payments (id, order_id, processor, processor_payment_id, state) values ('pay_${ID}', '${ORDER}', 'sandbox', 'pi_1', 'captured');
  insert into captures (processor, processor_capture_id, payment_id, order_id, purpose, amount_minor, currency, rail, captured_at)
    values ('sandbox', 'ch_1', 'pay_${ID}', '${ORDER}', 'sale', 1900, 'USD', 'card', '2026-11-01');
  insert into sandbox_payments (id, start_key, payment) values ('pi_1', 'pay_${ID}', '${JSON.stringify(PAYMENT)}');
  insert into transfers (kind, cause, order_id, debit_account, credit_account, amount_minor, currency) values
    ('sale', 'sandbox:ch_1', '${ORDER}', 'processor:sandbox', 'seller:sel_${ID}', 1900, 'USD'),
    ('fee', 'sandbox:ch_1', '${ORDER}', 'seller:sel_${ID}', 'fees', 38, 'USD');
  insert into outbox (id, recipient, subject, text, html) values (gen_random_uuid(), 'bob@example.com', 'Your receipt', 'Thanks', 'Thanks');` // oxfmt-ignore

for (const [commit, { has, former = {} }] of Object.entries(COMMITS)) {
  test(`the data of ${commit} are brought up, and the service sells with them`, async (t) => {
    const { url, connection } = await databaseOf(t, await schemaOf(t, has, former))
    const { db } = connection
    await sql.raw(ROWS).execute(db)
    const before = await contentOf(connection)
    assert.equal(before.get('orders')?.length, 2)

    await migrate(db, SCHEMA)
    for (const [table, rows] of before)
      assert.deepEqual(await rowsOf(connection, table, Object.keys(rows[0] ?? {})), rows, table)
    assert.deepEqual(await structureOf(connection), await structureOf(await connectionTo(t, await newDatabase(t))))
    assert.deepEqual(await db.transaction().execute(trialBalance), [])

    const shop = await startTestShop(t, { databaseUrl: url })
    const { paid, downloads } = await shop.status(ORDER, 'bob@example.com')
    assert.deepEqual([paid, downloads.map(({ name }) => name)], [true, ['book.pdf']])
    await shop.paid({ productId: `prod_${ID}` })
  })
}

test('the answer of a mailbox that kept its order stays with the order', async (t) => {
  const { has, former = {} } = COMMITS['94adbd2']!
  const { connection } = await databaseOf(t, await schemaOf(t, has, former))
  const { db } = connection
  await sql.raw(ROWS).execute(db)
  await sql`insert into email_changes (order_id, id, email, code_hash, expires_at, kept_at)
    values (${ORDER}, gen_random_uuid(), 'rob@example.com', ${randomBytes(32)}, now(), '2026-11-22')`.execute(db)
  await migrate(db, SCHEMA)
  const kept = await rowsOf(connection, 'orders', ['id'], `where address_kept_at = '2026-11-22'`)
  assert.deepEqual(kept, [{ id: ORDER }])
})

/** A folder with the migrations of these numbers, some in their former text. */
async function schemaOf(t: Ends, has: readonly number[], former: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder(t)
  for (const file of fs.readdirSync(SCHEMA)) {
    const number = file.slice(0, 3)
    if (!has.includes(Number(number))) continue
    const name = file.slice(0, -'.sql'.length)
    const from = former[number] ? path.join(EARLY, `${name}.${former[number]}.sql`) : path.join(SCHEMA, file)
    fs.copyFileSync(from, path.join(folder, file))
  }
  assert.equal(fs.readdirSync(folder).length, has.length)
  return folder
}

/** A database that an earlier program has made, so that nothing is noted about its migrations. */
async function databaseOf(t: Ends, folder: string): Promise<{ url: string; connection: Connection }> {
  const url = await emptyDatabase(t)
  const connection = await connectionTo(t, url)
  await migrate(connection.db, folder)
  await sql`drop table migration_needs`.execute(connection.db)
  return { url, connection }
}

async function connectionTo(t: Ends, connectionString: string): Promise<Connection> {
  const connection = connect({ connectionString }, { connections: 1, patient: true })
  atEnd(t, () => connection.close())
  return connection
}

type Row = Record<string, unknown>

async function contentOf(connection: Connection): Promise<Map<string, Row[]>> {
  const { rows: tables } = await connection.pool.query(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%'`,
  )
  const content = new Map<string, Row[]>()
  for (const { name } of tables) content.set(name, await rowsOf(connection, name, ['*']))
  return content
}

async function rowsOf({ pool }: Connection, table: string, columns: string[], where = ''): Promise<Row[]> {
  const { rows } = await pool.query(`select ${columns.join(', ') || '*'} from ${table} ${where} order by 1`)
  return rows
}

/** The tables, columns, constraints, indexes, functions and triggers, in words. */
async function structureOf({ pool }: Connection): Promise<string[]> {
  const { rows } = await pool.query(`
    select format('column %s.%s %s %s %s %s', table_name, column_name, data_type, is_nullable, column_default, collation_name) as line
      from information_schema.columns where table_schema = 'public'
    union all select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select format('function %s %s', proname, regexp_replace(prosrc, '--[^\\n]*\\n', '', 'g'))
      from pg_proc where pronamespace = 'public'::regnamespace
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    order by 1`)
  return rows.map(({ line }) => line)
}
