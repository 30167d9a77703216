import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { atEnd } from '../support/ends.ts'
import { type Service, startService } from '../support/service.ts'
import { type Ends, eventually, newDatabase, temporaryFolder } from '../support/shop.ts'

const SELLER = 'ann@demo.example'

/** The headers of a browser that is signed in as the demo's seller. */
async function signIn(service: Service): Promise<Record<string, string>> {
  const origin = { origin: service.url }
  const cookiesOf = (headers: { 'set-cookie'?: string[] | undefined }) =>
    (headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
  const asked = await service.call('POST', '/api/auth/otp', { email: SELLER }, { headers: origin })
  const { body: mails } = await eventually(
    () => service.call('GET', `/api/outbox?to=${SELLER}`),
    ({ body }) => body.length > 0,
  )
  const code = /^\d{6}/.exec(mails[0].subject)![0]
  const headers = { ...origin, cookie: cookiesOf(asked.headers) }
  const verified = await service.call('POST', '/api/auth/otp/verify', { email: SELLER, code }, { headers })
  assert.equal(verified.status, 200, JSON.stringify(verified.body))
  return { ...origin, cookie: cookiesOf(verified.headers) }
}

async function connect(t: Ends, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  atEnd(t, () => client.end().catch(() => {}))
  return client
}

/** A refund writes these after it was accepted, in this order: at the bank, in the books, and its mails. */
const WRITTEN = ['sandbox_payments', 'transfers', 'outbox']
/** A part of the price: the bank would make a second refund of it. */
const AMOUNT = 10_000

test('a service killed at any moment after it has accepted refunds makes each of them once, and mails each once', async (t) => {
  const databaseUrl = await newDatabase(t)
  const client = await connect(t, databaseUrl)
  const rows = async (text: string, values: unknown[]): Promise<any[]> => (await client.query(text, values)).rows
  const folder = await temporaryFolder(t)
  const start = () => startService(t, folder, { DATABASE_URL: databaseUrl })
  const taken: string[] = []
  let service = await start()
  const { cookie } = await signIn(service)

  for (const table of WRITTEN) {
    const { body: order } = await service.checkout()
    await service.confirm(order.clientSecret)
    await eventually(
      () => service.status(order.orderId),
      ({ body }) => body.paid,
    )
    await eventually(
      () => service.mails(order.orderId),
      ({ length }) => length > 0,
    )
    // the service dies when it wants to write to this table
    const holder = await connect(t, databaseUrl)
    await holder.query(`begin; lock table ${table} in exclusive mode`)
    const headers = { cookie: cookie!, origin: service.url }
    const answer = await service.call('POST', `/api/orders/${order.orderId}/refunds`, { amount: AMOUNT }, { headers })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    taken.push(order.orderId)
    await eventually(
      () =>
        rows(
          `select 1 from pg_locks where not granted and relation = $1::regclass
            and database = (select oid from pg_database where datname = current_database())`,
          [table],
        ),
      ({ length }) => length > 0,
    )
    await service.kill()
    await holder.end()
    // a job whose process died is given to another after a minute: here at once
    await client.query(`update pgboss.job set state = 'retry', start_after = now() where state = 'active'`)
    service = await start()
  }
  for (const orderId of taken) {
    const { body } = await eventually(
      () => service.status(orderId),
      (answer) => answer.body.status === 'partially_refunded',
    )
    const mails = () =>
      rows(`select recipient from outbox where subject ilike '%refund%' and text like $1`, [`%${orderId}%`])
    await eventually(mails, ({ length }) => length >= 2)
    assert.equal(body.refundedAmount, AMOUNT)
    const [{ payment }] = await rows(`select payment from sandbox_payments where payment->>'orderId' = $1`, [orderId])
    assert.equal(payment.refunds.length, 1)
    assert.deepEqual(
      (await rows('select kind from transfers where order_id = $1 order by kind', [orderId])).map(({ kind }) => kind),
      ['fee', 'fee_refund', 'refund', 'sale'],
    )
    assert.deepEqual((await mails()).map(({ recipient }) => recipient).sort(), [SELLER, 'bob@example.com'])
  }
})

test('a refund that is merely slow is no failure in the log', async (t) => {
  const service = await startService(t, await temporaryFolder(t), {
    DATABASE_URL: await newDatabase(t),
    LOG_LEVEL: 'info',
  })
  const headers = await signIn(service)
  const { body: order } = await service.checkout()
  await service.confirm(order.clientSecret, 'slow_refund')
  await eventually(
    () => service.status(order.orderId),
    ({ body }) => body.paid,
  )
  assert.equal((await service.call('POST', `/api/orders/${order.orderId}/refunds`, {}, { headers })).status, 201)
  await eventually(
    async () => service.output(),
    (output) => output.includes('the processor has not finished this refund'),
  )
  await eventually(
    () => service.status(order.orderId),
    ({ body }) => body.status === 'refunded',
  )
  const lines = service.output().split('\n').filter((line) => line.includes('"queue":"refund"')) // oxfmt-ignore
  assert(lines.length > 0)
  for (const line of lines) {
    assert.match(line, /"level":30,.*"a job is tried again later"/)
    assert.doesNotMatch(line, /stack/)
  }
})
