import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { before, test } from 'node:test'
import { sql } from 'kysely'
import type { Browser } from '../support/seller.ts'
import { bareEnvironment } from '../support/service.ts'
import { SECRET, eventually, sharedShop } from '../support/shop.ts'
import { OPERATOR, logOf, operatorOf, reviewedOrder, sellerOf } from './support.ts'

const SCRIPTS = path.join(import.meta.dirname, '../../scripts')
const shop = sharedShop({ env: { OPERATORS: OPERATOR, SIGNUP: 'approval' } })
let ann: Browser
before(async () => {
  ann = await operatorOf(shop())
})

const operator = (...args: string[]) => run('operator', ...args)
async function run(
  name: 'operator' | 'trust',
  ...args: string[]
): Promise<{ status: number | null; out: string; err: string }> {
  const env = { ...bareEnvironment(), DATABASE_URL: shop().databaseUrl, DATA_DIR: shop().config.dataDir, SECRET }
  const child = spawn(process.execPath, [path.join(SCRIPTS, `${name}.ts`), ...args], { env })
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => (out += text))
  child.stderr.on('data', (text) => (err += text))
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { status, out, err }
}
const done = async (...args: string[]): Promise<string> => {
  const { status, out, err } = await operator(...args)
  assert.deepEqual([status, err], [0, ''], args.join(' '))
  return out
}

test('the machine approves, suspends and signs out a seller, and the log says that it was the machine', async () => {
  const { browser, sellerId, email } = await sellerOf(shop())
  assert.match(await done('sellers', email), new RegExp(`^${sellerId} +awaiting_approval +${email}`))
  assert.equal(await done('approve', email.toUpperCase()), 'Done.\n')
  assert.equal(await done('approve', sellerId), 'It was so before.\n')
  assert.equal(await done('suspend', sellerId), 'Done.\n')
  assert.equal(await done('resume', sellerId), 'Done.\n')
  assert.equal(await done('quota', sellerId, '5000'), 'Done.\n')
  assert.equal(await done('sign-out', sellerId), 'Done.\n')
  assert.equal(await browser.isSignedIn(), false)
  const log = await logOf(ann, sellerId)
  assert.deepEqual(log.map(({ actor, action }) => `${actor} ${action}`), ['machine seller_sessions_ended', 'machine seller_quota_set', 'machine seller_resumed', 'machine seller_suspended', 'machine seller_approved']) // oxfmt-ignore
  assert.match(await done('log', sellerId), /machine {2}seller_approved/)
  await eventually(
    () => shop().mails(email),
    (mails) => mails.filter(({ subject }) => subject.startsWith('Your shop')).length === 3,
  )
})

test('npm run trust approves a seller who waits, with the same mail, once', async () => {
  const { sellerId, email } = await sellerOf(shop())
  const trusted = async (...args: string[]) => {
    const { status, out, err } = await run('trust', ...args)
    assert.deepEqual([status, err], [0, ''])
    return out
  }
  const opened = async () => (await shop().mails(email)).filter(({ subject }) => subject.endsWith(' is open')).length
  assert.match(await trusted(email), new RegExp(`<${email}> is trusted from now on`))
  assert.match(await trusted(sellerId), /was trusted before/)
  await eventually(opened, (count) => count === 1)
  assert.match(await trusted(sellerId, '--end'), /is not trusted from now on/)
  assert.match(await done('sellers', email), /awaiting_approval/)
  assert.equal(await done('approve', email), 'Done.\n')
  // the second mail is sent after every earlier one
  await eventually(opened, (count) => count >= 2)
  assert.equal(await opened(), 2)
  assert.deepEqual(
    (await logOf(ann, sellerId)).map(({ actor, action }) => `${actor} ${action}`),
    ['machine seller_approved', 'machine seller_approval_ended', 'machine seller_approved'],
  )
})

test('the machine settles, refunds and recalls', async () => {
  const { sellerId, productId } = await sellerOf(shop())
  await done('approve', sellerId)
  const orderId = await reviewedOrder(shop(), productId)
  assert.match(await done('attention'), /A buyer paid \$18\.99 for an order of \$19\.00\..*Accept it/)
  assert.equal(await done('accept', orderId), 'The order is paid with $18.99.\n')
  assert.deepEqual((await operator('accept', orderId)).status, 1)
  assert.match(await done('orders', orderId), /paid +\$18\.99 +bob@example\.com/)
  assert.match(await done('refund', orderId, '899'), /^\$8\.99 goes back/)
  await shop().until(orderId, ({ status }) => status === 'partially_refunded')
  await done('receipt', orderId)
  const other = await reviewedOrder(shop(), productId)
  assert.equal(await done('send-back', other), '$18.99 goes back.\n')
  const { rows } = await sql<{ id: string }>`select id from files where product_id = ${productId}`.execute(shop().db)
  assert.match(await done('recall', rows[0]!.id, 'It holds a virus.'), /^Recalled: book\.pdf of A song/)
})

test('a refusal, a wrong argument and an unknown command each end with their status', async () => {
  for (const args of [
    ['approve', 'nobody@example.com'],
    ['accept', 'ord_1'],
    ['quota', 'x', '-1'],
    ['recall', 'file_1', 'x'],
    ['refund', 'ord_1', '1.5'],
  ]) {
    // oxfmt-ignore
    const { status, out, err } = await operator(...args)
    assert.deepEqual([status, out], [1, ''], args.join(' '))
    assert.notEqual(err, '')
  }
  for (const args of [[], ['approve'], ['approve', 'a', 'b'], ['toString'], ['log', 'a', 'b']]) {
    const { status, err } = await operator(...args)
    assert.equal(status, 2)
    assert.match(err, /npm run operator -- COMMAND/)
  }
})

test('a long list reaches the reader of a pipe to its end', async () => {
  const { sellerId } = await sellerOf(shop())
  await sql`
    insert into operator_actions (actor, action, subject, detail)
    select 'machine', 'seller_quota_set', ${sellerId}, jsonb_build_object('text', repeat('x', 20000))
    from generate_series(1, 100)`.execute(shop().db)
  const lines = (await done('log', sellerId)).trimEnd().split('\n')
  assert.deepEqual([lines.length, new Set(lines.map(({ length }) => length)).size], [100, 1])
})
