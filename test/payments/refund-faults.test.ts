import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
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

test('a service killed at any moment after it has accepted refunds makes each of them once, and mails each once', async (t) => {
  const databaseUrl = await newDatabase(t)
  const client = await connect(t, databaseUrl)
  const rows = async (text: string, values: unknown[]): Promise<any[]> => (await client.query(text, values)).rows
  const folder = await temporaryFolder(t)
  const start = () => startService(t, folder, { DATABASE_URL: databaseUrl })
  const taken: string[] = []
  let service = await start()
  const { cookie } = await signIn(service)

  for (const waitMs of [0, 15, 40]) {
    const { body: order } = await service.checkout()
    await service.confirm(order.clientSecret)
    await eventually(
      () => service.status(order.orderId),
      ({ body }) => body.paid,
    )
    const answer = await service.call(
      'POST',
      `/api/orders/${order.orderId}/refunds`,
      {},
      {
        headers: { cookie: cookie!, origin: service.url },
      },
    )
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    taken.push(order.orderId)
    // Each wait chooses the moment of the kill. The test waits for nothing here.
    await sleep(waitMs)
    await service.kill()
    // a job whose process died is given to another after a minute: here at once
    await client.query(`update pgboss.job set state = 'retry', start_after = now() where state = 'active'`)
    service = await start()
  }
  for (const orderId of taken) {
    const { body } = await eventually(
      () => service.status(orderId),
      (answer) => answer.body.status === 'refunded',
    )
    assert.equal(body.refundedAmount, body.amount)
    const [{ payment }] = await rows(`select payment from sandbox_payments where payment->>'orderId' = $1`, [orderId])
    assert.equal(payment.refunds.length, 1)
    assert.deepEqual(
      (await rows('select kind from transfers where order_id = $1 order by kind', [orderId])).map(({ kind }) => kind),
      ['fee', 'fee_refund', 'refund', 'sale'],
    )
    const mails = () =>
      rows(`select recipient from outbox where subject ilike '%refund%' and text like $1`, [`%${orderId}%`])
    await eventually(mails, ({ length }) => length >= 2)
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
