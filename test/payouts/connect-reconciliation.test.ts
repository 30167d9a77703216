import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { inTransaction } from '../../src/kit/database.ts'
import { OPERATOR, startConnectShop } from '../support/connect-shop.ts'
import { planted, reconcileCommand } from '../support/reconciliation.ts'
import { eventually } from '../support/shop.ts'
import { stripeSettings } from '../support/stripe-shop.ts'

test('an account that gives no access is named where it has captures, and neither a night nor its days suffer from it', async (t) => {
  const [stream, lines] = [new PassThrough(), [] as string[]]
  stream.on('data', (line) => lines.push(String(line)))
  const own = await startConnectShop(t, { log: pino({ level: 'warn' }, stream) })
  const { shop, server, connect } = own
  const command = () =>
    reconcileCommand(t, shop.databaseUrl, [], {
      ...stripeSettings(server),
      PAYOUTS: 'stripe-connect',
      OPERATORS: OPERATOR,
    })
  const warned = () =>
    lines.flatMap((line) => (line.includes('no access any more') ? [JSON.parse(line).processor] : []))
  const night = async () => {
    const proofs = async () =>
      (await sql<{ notAsked: number }>`select not_asked as "notAsked" from proofs order by at desc`.execute(shop.db))
        .rows
    const ended = async () =>
      (await sql`select from pgboss.job where name = 'reconciliation' and state = 'completed'`.execute(shop.db)).rows
        .length
    const before = await ended()
    await inTransaction(shop.db, (tx) => shop.jobs.add(tx, 'reconciliation', [{ data: {} }]))
    await eventually(ended, (count) => count > before)
    return (await proofs())[0]!.notAsked
  }
  const captured = (days: number) =>
    planted(shop.databaseUrl, `update captures set captured_at = now() - interval '${days} days'`)

  const seller = await own.selling()
  await own.paid(seller)
  const before = await command()
  assert.equal(before.status, 0, before.output)
  connect.revoke(seller.account)
  await own.readDue()
  await own.awaits(seller.id, true)
  const after = await command()
  assert.equal(after.status, 2, after.output)
  const named = `not asked    ${seller.name}: gives no access any more, but has captures from these days`
  assert(after.output.includes(named), after.output)
  assert.match(after.output, /Not reconciled/)

  await captured(5)
  assert.equal(await night(), 0, 'no later night could ask it, so it makes none longer')
  assert.deepEqual(warned(), [seller.name])
  // the seller left long ago
  await captured(40)
  assert.equal(await night(), 0)
  assert.deepEqual(warned(), [seller.name], 'and is not told of again')
  const later = await command()
  assert.equal(later.status, 0, later.output)
})
