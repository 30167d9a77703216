import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { logOf, operatorOf } from '../operator/support.ts'
import { sharedShop, temporaryFolder } from '../support/shop.ts'
import { IBAN, MANUAL, dueSeller, newPaidSeller, payoutsCommand, runs } from './support.ts'

// `npm run payouts`, on the machine itself.

const PAYER = { PAYOUT_FROM_NAME: 'Example GmbH', PAYOUT_FROM_IBAN: 'DE02120300000000202051' }
const shop = sharedShop({ env: { ...MANUAL.env, ...PAYER } })

const payouts = (...args: string[]) => payoutsCommand(shop(), args, PAYER).ended
const done = async (...args: string[]): Promise<string> => {
  const { status, out, err } = await payouts(...args)
  assert.deepEqual([status, err], [0, ''], args.join(' '))
  return out
}

test('what is no command is explained, and what is refused says why', async () => {
  for (const args of [[], ['pay'], ['approve'], ['export', 'run_x'], ['toString']]) {
    const { status, err } = await payouts(...args)
    assert.equal(status, 2)
    assert.match(err, /npm run payouts -- COMMAND/)
  }
  const unknown = 'run_00000000000000000000000000'
  for (const args of [
    ['propose'],
    ['show', unknown],
    ['approve', unknown],
    ['cancel', unknown],
    ['mark', unknown, 'sent'],
    ['mark', unknown, 'paid'],
    ['mark', 'po_00000000000000000000000000', 'paid'],
    ['mark', 'po_00000000000000000000000000', 'failed'],
  ])
    // oxfmt-ignore
    assert.equal((await payouts(...args)).status, 1, args.join(' '))
})

test('the machine proposes, approves, exports, and marks; the files are the same each time, and the log names the machine', async (t) => {
  const seller = await dueSeller(shop())
  const european = await newPaidSeller(shop())
  await european.sell(5000, 'EUR')
  await european.details('EUR')
  const proposed = await done('propose')
  const runId = /^(run_\w+) {2}proposed {3}\d{4}-\d\d-\d\d by machine {2}/.exec(proposed)![1]!
  assert.match(proposed, /€49\.00 +\S+ +DE … 3000/)
  // also when the command is repeated, because it was killed after its change
  for (let n = 0; n < 2; n++) assert.match(await done('approve', runId), /€49\.00 +\S+ +po_\w+ +approved/)
  assert.match(await done('runs'), new RegExp(`^${runId} {2}approved`))
  const folder = await temporaryFolder(t)
  const written = await done('export', runId, folder)
  assert.match(written, /-EUR\.xml: 1 payouts, €49\.00\n.*-USD\.csv: 1 payouts, \$18\.62/)
  const files = () => fs.readdirSync(folder).map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')])
  const first = files()
  assert.equal(first.length, 2)
  const [sepa = '', csv = ''] = first.map(([, content]) => content)
  assert(sepa.includes(`<IBAN>${IBAN}</IBAN>`) && sepa.includes(`<IBAN>${PAYER.PAYOUT_FROM_IBAN}</IBAN>`))
  assert(sepa.includes(`<MsgId>${runId.replace('_', '').toUpperCase()}EUR</MsgId>`))
  assert.match(csv, /18\.62/)
  assert.equal(fs.statSync(path.join(folder, first[0]![0]!)).mode & 0o077, 0, 'nobody else reads the account numbers')
  // the export replaces a file of the same name and never writes into it: a file that the bank has open stays whole, and
  // other accounts cannot read the new one
  const [[name = '']] = first as [string[]]
  fs.linkSync(path.join(folder, name), path.join(folder, 'opened'))
  fs.chmodSync(path.join(folder, name), 0o644)
  fs.writeFileSync(path.join(folder, `${name}.unfinished`), 'half of a file', { mode: 0o644 })
  assert.match(await done('export', runId, folder), /the same file as before/)
  assert.equal(fs.statSync(path.join(folder, name)).mode & 0o077, 0)
  assert.notEqual(fs.statSync(path.join(folder, name)).ino, fs.statSync(path.join(folder, 'opened')).ino)
  fs.rmSync(path.join(folder, 'opened'))
  assert.deepEqual(files(), first)
  assert.equal(await done('mark', runId, 'sent'), '2 payouts are marked as sent.\n')
  const operator = await operatorOf(shop())
  const { lines } = await runs(operator).get(runId)
  const idOf = ({ sellerId }: { sellerId: string }) =>
    lines.find((line: any) => line.sellerId === sellerId).payout.payoutId
  assert.equal(await done('mark', idOf(seller), 'paid'), 'Done.\n')
  assert.equal(await done('mark', idOf(seller), 'paid'), 'It was so before.\n')
  assert.equal(await done('mark', idOf(european), 'failed', 'AC04: closed'), 'Done.\n')
  assert.equal((await european.balance('EUR')).balance, 4900)
  const log = (await logOf(operator, runId)).map(({ actor, action }) => `${actor} ${action}`)
  assert.deepEqual([...new Set(log)], ['machine payout_run_sent', 'machine payout_file_exported', 'machine payout_run_approved', 'machine payout_run_proposed']) // oxfmt-ignore
})

test('the machine says which payouts of a run and of its file go to suspended shops', async (t) => {
  const seller = await dueSeller(shop())
  const operator = await operatorOf(shop())
  const { runId } = await runs(operator).pay(seller)
  assert.doesNotMatch(await done('show', runId), /suspended/)
  await operator.call('PUT', `/api/operator/sellers/${seller.sellerId}/suspension`)
  const shown = await done('show', runId)
  assert.match(shown, /po_\w+ {2}approved {2}US … 5678 {2}the shop is suspended\n/)
  assert.match(shown, /not exported yet, with 1 payout to a suspended shop\n/)
  assert.match(await done('export', runId, await temporaryFolder(t)), /, with 1 payout to a suspended shop\n/)
})

test('a seller after the first thousand lines of a run is left out and taken in too, and the list says that it goes on', async () => {
  const seller = await dueSeller(shop())
  const runId = /^run_\w+/.exec(await done('propose'))![0]
  await sql`
    with many as (
      insert into sellers (id, name, email) select 'sel_' || lpad(n::text, 26, '0'), 'Seller ' || n, n || '@many.example'
      from generate_series(1, 1000) n returning id)
    insert into payout_run_lines (run_id, seller_id, currency, amount_minor) select ${runId}, id, 'USD', 999999 from many`.execute(
    shop().db,
  )
  const blocked = async () => {
    const { rows } = await sql<{ blocked: string | null }>`
      select blocked from payout_run_lines where run_id = ${runId} and seller_id = ${seller.sellerId}`.execute(
      shop().db,
    )
    return rows.map((line) => line.blocked)
  }
  const { rows } = await sql<{ lines: number; email: string }>`
    select count(*)::int as lines, (select email from sellers where id = ${seller.sellerId}) as email
    from payout_run_lines where run_id = ${runId}`.execute(shop().db)
  const { lines, email } = rows[0]!
  const shown = await done('leave-out', runId, seller.sellerId)
  assert.deepEqual(await blocked(), ['left_out'])
  assert.match(shown, new RegExp(`The first 1000 of ${lines} lines\\.`))
  await done('take-in', runId, email.toUpperCase())
  assert.deepEqual(await blocked(), [null])
  const stranger = await payouts('leave-out', runId, 'stranger@many.example')
  assert.deepEqual([stranger.status, stranger.err], [1, 'There is no such seller.\n'])
  await done('cancel', runId)
})

test('the machine reads a bank’s statement once, and names what a person must look at', async (t) => {
  const [one, two] = [await dueSeller(shop()), await dueSeller(shop())]
  const operator = await operatorOf(shop())
  const { runId } = await runs(operator).send(one)
  const { items } = (await operator.call('GET', `/api/operator/payouts?runId=${runId}`)).body
  const referenceOf = ({ sellerId }: { sellerId: string }) => items.find((item: any) => item.seller.id === sellerId).reference // oxfmt-ignore
  const file = path.join(await temporaryFolder(t), 'statement.csv')
  assert.equal((await payouts('statement', file)).status, 2, 'there is no such file')
  fs.writeFileSync(file, 'x')
  assert.equal((await payouts('statement', file)).status, 1)
  fs.writeFileSync(
    file,
    `reference,amount,currency,status,bookedOn\n${referenceOf(one)},18.62,USD,booked,2026-11-24\n${referenceOf(two)},18.61,USD,booked,2026-11-24\nRENT,1.00,USD,booked,2026-11-24\n`,
  )
  assert.equal(
    await done('statement', file),
    `1 paid, 0 failed, 0 came back, 0 known before, 1 to look at, 1 other lines.\namount_differs: ${referenceOf(two)} booked $18.61, the payout is $18.62\n`,
  )
  assert.match(await done('statement', file), /^This file was read before\./)
})
