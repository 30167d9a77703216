import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { connect as openPool, inTransaction, isDatabaseOutage } from '../../src/kit/database.ts'
import { newEventId, signed, times } from '../stand-ins/processor.ts'
import {
  type Reply,
  type Service,
  embeddedOf,
  killEmbedded,
  familyOf,
  request,
  serviceFolder,
  startService,
  startDatabaseProxy,
} from '../support/service.ts'
import { type Ends, eventually, newDatabase } from '../support/shop.ts'
import { atEnd } from '../support/ends.ts'

// Failures in the middle of a payment: of the service, its database, and the connection between them. Everything acknowledged still
// exists afterwards, and every buyer has paid once and got each mail once.

const newKey = () => randomBytes(12).toString('hex')
const SALE = ['fee', 'sale']

async function connect(t: Ends, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test' })
  client.on('error', () => {})
  await client.connect()
  atEnd(t, () => client.end().catch(() => {}))
  return client
}

const rows = async (client: pg.Client, text: string, values: unknown[] = []): Promise<any[]> =>
  (await client.query(text, values)).rows

/** The kinds of all that is booked for an order. */
const kinds = async (client: pg.Client, orderId: string): Promise<string[]> =>
  (await rows(client, 'select kind from transfers where order_id = $1 order by kind', [orderId])).map(
    ({ kind }) => kind,
  )

/** Checks that the order is paid, delivered, booked and mailed, each exactly once. */
async function assertBoughtOnce(service: Service, client: pg.Client, orderId: string): Promise<void> {
  const { body } = await eventually(
    () => service.status(orderId),
    ({ body: { paid } }) => paid === true,
  )
  assert.deepEqual([body.status, body.downloads.length], ['paid', 3])
  assert.deepEqual(await kinds(client, orderId), SALE)
  const captures = await rows(client, 'select purpose from captures where order_id = $1', [orderId])
  assert.deepEqual(captures, [{ purpose: 'sale' }])
  await eventually(
    () => rows(client, `select 1 from outbox where text like '%' || $1 || '%'`, [orderId]),
    (mails) => mails.length > 0,
  )
  assert.equal((await service.mails(orderId)).length, 1)
}

/** Checks that no buyer of a database got any mail twice. */
async function assertToldOnce(client: pg.Client): Promise<void> {
  const twice = await rows(
    client,
    `select substring(text from 'ord_[0-9a-z]{26}') as id, subject, count(*) from outbox where text ~ 'ord_[0-9a-z]{26}' group by 1, 2 having count(*) > 1`,
  )
  assert.deepEqual(twice, [])
}

/** An outage as a caller should see it. */
function assertAway(reply: Reply): void {
  assert.deepEqual([reply.status, reply.body.code], [503, 'database_unavailable'], JSON.stringify(reply.body))
  assert.ok(Number(reply.headers['retry-after']) > 0)
  assert.equal(reply.headers['content-type'], 'application/problem+json')
}

const isReady = async (service: Service) => (await service.call('GET', '/readyz')).status === 200
const ready = (service: Service) =>
  eventually(
    () => isReady(service),
    (yes) => yes,
  )

async function ordered(service: Service, key = newKey()): Promise<{ orderId: string; clientSecret: string }> {
  const { status, body } = await service.checkout(key)
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

/** One of everything that needs the database. */
function everything(
  service: Service,
  { orderId, clientSecret }: { orderId: string; clientSecret: string },
): Promise<Reply>[] {
  const body = JSON.stringify({ id: newEventId(), type: 'account.updated' })
  const headers = signed(body, { id: JSON.parse(body).id })
  return [
    service.checkout(newKey()),
    service.checkout(),
    service.status(orderId),
    service.status(orderId, true),
    service.confirm(clientSecret),
    service.call('POST', `/api/checkout/${orderId}/receipt`, { email: 'bob@example.com' }),
    service.call('GET', `/api/products/${service.productId}/public`),
    service.call('GET', '/api/outbox?to=bob@example.com'),
    service.call('POST', '/api/webhooks/sandbox', body, { headers }),
    service.call('GET', '/readyz'),
  ]
}

/**
 * Stops every statement that does `event` on `table` inside the database, just before it takes effect, until the test releases or
 * kills it.
 */
async function holdAt(client: pg.Client, table: string, event: string) {
  await client.query(`
    create function hold_here() returns trigger language plpgsql as $$ begin
      perform pg_advisory_lock(4711); perform pg_advisory_unlock(4711); return new;
    end $$;
    create trigger hold_here before ${event} on ${table} for each row execute function hold_here();
    select pg_advisory_lock(4711)`)
  return {
    held: () =>
      eventually(
        () =>
          rows(
            client,
            `select 1 from pg_locks where locktype = 'advisory' and not granted and objid = 4711
          and database = (select oid from pg_database where datname = current_database())`,
          ),
        (waiting) => waiting.length > 0,
      ),
    /** Kills the stopped statement: its session ends, as when its machine is gone. */
    async end() {
      await endSessions(client)
      await client.query('select pg_advisory_unlock(4711)')
      await client.query(`drop trigger hold_here on ${table}; drop function hold_here()`)
    },
  }
}

const endSessions = (client: pg.Client) =>
  client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'till%'`,
  )

test('failures in the middle of a payment', { concurrency: true }, async (t) => {
  await Promise.all([
    t.test('on a PostgreSQL of its own', onOnesOwn),
    t.test('on the embedded PostgreSQL', onTheEmbedded),
    t.test('a statement that was given up does not affect the next user of its connection', givenUp),
  ])
})

async function onOnesOwn(t: TestContext) {
  const databaseUrl = await newDatabase(t)
  const wire = await startDatabaseProxy(t, databaseUrl)
  const client = await connect(t, databaseUrl)
  const dataDir = serviceFolder(t)
  const env = { DATABASE_URL: wire.url }
  let service = await startService(t, dataDir, env)
  let stormed = ''

  await t.test(
    'killed between the processor’s answer and our note of it: the same click finds the same payment',
    async () => {
      const key = newKey()
      const hold = await holdAt(client, 'payments', 'update')
      const lost = service.checkout(key)
      lost.catch(() => {})
      await hold.held()
      const [started] = await rows(client, 'select id, payment from sandbox_payments')
      const [attempt] = await rows(client, 'select order_id, state from payments')
      assert.deepEqual(attempt, { order_id: started.payment.orderId, state: 'starting' })
      await service.kill()
      await assert.rejects(lost)
      await hold.end()
      assert.deepEqual((await rows(client, 'select state from payments'))[0], { state: 'starting' })

      service = await startService(t, dataDir, env)
      const { orderId, clientSecret } = await ordered(service, key)
      assert.equal(orderId, started.payment.orderId)
      assert.ok(clientSecret.startsWith(started.id), 'another payment was started')
      for (const table of ['orders', 'payments', 'sandbox_payments'])
        assert.equal((await rows(client, `select 1 from ${table}`)).length, 1, table)
      assert.equal((await service.confirm(clientSecret)).status, 200)
      await assertBoughtOnce(service, client, orderId)
    },
  )

  await t.test(
    'killed between the payment and our commit: nothing is lost, and nothing is booked or mailed twice',
    async () => {
      const key = newKey()
      const { orderId, clientSecret } = await ordered(service, key)
      const hold = await holdAt(client, 'transfers', 'insert')
      assert.equal((await service.confirm(clientSecret)).body.status, 'captured')
      await hold.held()
      await service.kill()
      await hold.end()
      assert.deepEqual(await rows(client, 'select state from orders where id = $1', [orderId]), [{ state: 'pending' }])
      assert.deepEqual(await rows(client, 'select 1 from captures where order_id = $1', [orderId]), [])

      service = await startService(t, dataDir, env)
      // the buyer is still there and asks; the notification comes again, in copies; the click is repeated
      const [{ payment }] = await rows(client, `select payment from sandbox_payments where payment->>'orderId' = $1`, [
        orderId,
      ])
      const news = JSON.stringify({ id: newEventId(), type: 'payment.captured', payment })
      const notify = () =>
        service.call('POST', '/api/webhooks/sandbox', news, { headers: signed(news, { id: JSON.parse(news).id }) })
      // on a busy machine the database may take too long; buyer and processor then try again
      const isHeard = ({ status }: { status: number }) => status !== 503
      const replies = await Promise.all([
        eventually(() => service.status(orderId, true), isHeard),
        ...Array.from({ length: 3 }, () => eventually(notify, isHeard)),
      ])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200, 200, 200],
      )
      await assertBoughtOnce(service, client, orderId)
      const { clientSecret: another, ...again } = (await service.checkout(key)).body
      assert.deepEqual([again.orderId, again.status, another], [orderId, 'paid', undefined])
      assert.equal((await service.confirm(clientSecret)).status, 409)
    },
  )

  await t.test('killed while a mail was under way: the next service sends it, and once', async () => {
    const { orderId, clientSecret } = await ordered(service)
    const hold = await holdAt(client, 'outbox', 'insert')
    await service.confirm(clientSecret)
    await hold.held()
    await service.kill()
    await hold.end()
    assert.deepEqual(await rows(client, `select 1 from outbox where text like '%' || $1 || '%'`, [orderId]), [])
    service = await startService(t, dataDir, env)

    // the lock of the killed process is free, so its jobs are given to this one
    await eventually(
      () => mailJobs(orderId),
      (jobs) => jobs.length > 0 && jobs.every(({ state }) => state === 'completed'),
    )
    await assertBoughtOnce(service, client, orderId)

    // and as if it had died after sending, before it could say so
    await eventually(
      () => mailJobs(orderId),
      (jobs) => jobs.every(({ state }) => state === 'completed'),
    )
    await tryNow('completed')
    await eventually(
      () => mailJobs(orderId),
      (jobs) => jobs.every(({ state }) => state === 'completed'),
    )
    assert.equal((await service.mails(orderId)).length, 1)

    function mailJobs(id: string): Promise<{ state: string }[]> {
      return rows(client, `select state from pgboss.job where name = 'mail' and data->>'orderId' = $1`, [id])
    }
    /** Runs a job now that waits for its next try. */
    async function tryNow(state: string): Promise<void> {
      await client.query(
        `update pgboss.job set state = 'retry', completed_on = null, start_after = now()
        where name = 'mail' and state = $1 and data->>'orderId' = $2`,
        [state, orderId],
      )
      await client.query(`select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'mail')`)
    }
  })

  await t.test(
    'the wire to the database is cut: 503 with Retry-After, and all is well when it is mended, without a restart',
    async () => {
      const { orderId, clientSecret } = await ordered(service)
      const paid = await ordered(service)
      assert.equal((await service.confirm(paid.clientSecret, 'lost_webhook')).status, 200)
      const busy = times(20, () => service.status(orderId))
      await wire.cut()
      for (const { status } of await busy) assert.ok(status === 200 || status === 503)
      for (const reply of await Promise.all(everything(service, { orderId, clientSecret }))) assertAway(reply)
      assert.equal((await service.call('GET', '/healthz')).status, 200)
      assert.equal((await service.call('GET', '/pricing/')).status, 200)

      await wire.mend()
      await ready(service)
      await eventually(
        () => service.status(paid.orderId, true),
        ({ body }) => body.paid,
      )
      await assertBoughtOnce(service, client, paid.orderId)
      assert.equal((await service.confirm(clientSecret)).status, 200)
      await assertBoughtOnce(service, client, orderId)
    },
  )

  await t.test('no connection is left at the database: 503, and back when there is one', async () => {
    const { orderId, clientSecret } = await ordered(service)
    const name = new URL(databaseUrl).pathname.slice(1)
    await client.query(`alter database ${name} connection limit 0`)
    await endSessions(client)
    await eventually(
      () => isReady(service),
      (yes) => !yes,
    )
    for (const reply of await Promise.all(everything(service, { orderId, clientSecret }))) assertAway(reply)
    assert.equal((await service.call('GET', '/healthz')).status, 200)
    await client.query(`alter database ${name} connection limit -1`)
    await ready(service)
    assert.equal((await service.confirm(clientSecret)).status, 200)
    await assertBoughtOnce(service, client, orderId)
  })

  await t.test(
    'buyers’ requests that hang use up their own connections: a payment is booked all the same',
    async () => {
      const { orderId, clientSecret } = await ordered(service)
      assert.equal((await service.confirm(clientSecret, 'lost_webhook')).status, 200)
      const [{ payment }] = await rows(client, `select payment from sandbox_payments where payment->>'orderId' = $1`, [
        orderId,
      ])
      const locker = await connect(t, databaseUrl)
      await locker.query('begin; lock table products in access exclusive mode')
      const stuck = times(40, () => service.call('GET', `/api/products/${service.productId}/public`))
      const waiting = () =>
        rows(
          client,
          `select pid || ' since ' || query_start as one from pg_stat_activity
          where application_name = 'till' and wait_event_type = 'Lock' and datname = current_database()`,
        ).then((all) => new Set(all.map(({ one }) => one)))
      const hanging = await eventually(waiting, ({ size }) => size >= 10)
      const news = JSON.stringify({ id: newEventId(), type: 'payment.captured', payment })
      const told = await service.call('POST', '/api/webhooks/sandbox', news, {
        headers: signed(news, { id: JSON.parse(news).id }),
      })
      assert.equal(told.status, 200)
      assert(!(await waiting()).isDisjointFrom(hanging), 'it waited until they were given up')
      assert.equal((await service.call('GET', '/readyz')).status, 200)
      assert.deepEqual(await kinds(client, orderId), SALE)
      // and none of them waits for ever
      for (const reply of await stuck) assertAway(reply)
      await locker.query('rollback')
      // its mail may have found no connection, and is tried again: that is waited for at the end
      stormed = orderId
    },
  )

  await t.test('one of two services stops under load: it finishes its requests, and the other continues', async () => {
    const other = await startService(t, dataDir, { ...env, DATABASE_URL: databaseUrl })
    const later = await ordered(service)
    assert.equal((await service.confirm(later.clientSecret, 'delayed')).body.status, 'processing')

    const agent = new http.Agent({ keepAlive: true })
    atEnd(t, () => agent.destroy())
    const answers: number[] = []
    const failures: string[] = []
    const load = times(6, async () => {
      for (;;) {
        try {
          const { status, body } = await request(
            'GET',
            `${service.url}/api/checkout/${later.orderId}/status`,
            undefined,
            { agent },
          )
          if (body.code !== 'database_unavailable') answers.push(status)
        } catch (error) {
          return failures.push((error as NodeJS.ErrnoException).code ?? String(error))
        }
      }
    })
    const locker = await connect(t, databaseUrl)
    await locker.query('begin; lock table products in access exclusive mode')
    const sent: Promise<void>[] = []
    const keys = Array.from({ length: 12 }, newKey)
    const underWay = Promise.all(
      keys.map((key) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        sent.push(promise)
        return service.checkout(key, { agent, onSent: resolve })
      }),
    )
    await eventually(
      () =>
        rows(
          client,
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
            and query like '%insert into orders%' and pid <> pg_backend_pid()`,
        ),
      (waiting) => waiting.length > 0,
    )
    // Those that wait share a statement: the last of them may still lie unread on its line. It is read by the time the second
    // of two later requests is answered: the first may come in the same turn.
    await Promise.all(sent)
    for (let i = 0; i < 2; i++) await service.call('GET', '/healthz')
    const ended = once(service.child, 'exit')
    service.child.kill('SIGTERM')
    await eventually(
      () =>
        service.call('GET', '/healthz').then(
          () => false,
          ({ code }) => code === 'ECONNREFUSED',
        ),
      (yes) => yes,
    )
    await locker.query('rollback')
    // on a slow machine a statement may have waited for longer than it may: the buyer asks the other service again
    const finished = await Promise.all(
      (await underWay).map((reply, at) =>
        reply.body.code === 'database_unavailable' ? other.checkout(keys[at]) : reply,
      ),
    )
    assert.deepEqual(
      finished.map(({ status }) => status),
      Array(12).fill(201),
    )
    for (const { body } of finished) assert.ok(body.clientSecret)
    await load
    assert.deepEqual([...new Set(answers)], [200])
    // a late client was refused, or was about to send on a connection that closed
    for (const code of failures) assert.ok(['ECONNREFUSED', 'ECONNRESET'].includes(code), code)
    assert.deepEqual(await ended, [0, null], service.output())
    assert.doesNotMatch(service.output(), /cut short/, 'it ended by itself, and not because its time was over')

    await assertBoughtOnce(other, client, later.orderId)
    const next = finished[0]!.body
    assert.equal((await other.confirm(next.clientSecret)).status, 200)
    await assertBoughtOnce(other, client, next.orderId)
    await assertBoughtOnce(other, client, stormed)
    await assertToldOnce(client)
  })
}

async function onTheEmbedded(t: TestContext) {
  const dataDir = serviceFolder(t)
  let service = await startService(t, dataDir)

  /** Orders come in until `fault` has been done; returns those that were acknowledged. */
  async function whileOrdering(fault: () => unknown): Promise<string[]> {
    const acknowledged: string[] = []
    const over = new AbortController()
    const load = times(4, async () => {
      while (!over.signal.aborted) {
        try {
          const { status, body } = await service.checkout(newKey())
          if (status === 201) acknowledged.push(body.orderId)
          else assert.equal(status, 503, JSON.stringify(body))
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error
          return // the service itself is gone
        }
      }
    })
    await eventually(
      async () => acknowledged.length,
      (count) => count >= 20,
    )
    await fault()
    over.abort()
    await load
    return acknowledged
  }
  const assertAllThere = async (client: pg.Client, orderIds: string[]) =>
    assert.equal((await rows(client, 'select 1 from orders where id = any($1)', [orderIds])).length, orderIds.length)

  await t.test(
    'the service is killed and started again on the same data: nothing that was acknowledged is lost',
    async () => {
      const bought = await ordered(service)
      await service.confirm(bought.clientSecret)
      await eventually(
        () => service.status(bought.orderId),
        ({ body }) => body.paid,
      )
      const missed = await ordered(service)
      await service.confirm(missed.clientSecret, 'lost_webhook')
      const acknowledged = await whileOrdering(() => service.kill())

      service = await startService(t, dataDir)
      const client = await connect(t, embeddedOf(dataDir).url)
      await assertAllThere(client, acknowledged)
      await assertBoughtOnce(service, client, bought.orderId)
      await eventually(
        () => service.status(missed.orderId, true),
        ({ body }) => body.paid,
      )
      await assertBoughtOnce(service, client, missed.orderId)
      const link = new URL((await service.status(bought.orderId)).body.downloads[0].url).pathname
      assert.equal((await service.call('GET', link)).status, 200)
    },
  )

  await t.test(
    'PostgreSQL is killed: 503 with Retry-After meanwhile, and the same process goes on with all that was acknowledged',
    async () => {
      const { orderId, clientSecret } = await ordered(service)
      const { pid } = embeddedOf(dataDir)
      let unready = 0
      const replies: Reply[] = []
      const acknowledged = await whileOrdering(async () => {
        process.kill(pid, 'SIGKILL')
        await eventually(
          async () => {
            const [ready, status, alive] = await Promise.all([
              service.call('GET', '/readyz'),
              service.status(orderId),
              service.call('GET', '/healthz'),
            ])
            assert.equal(alive.status, 200)
            if (ready.status !== 200) unready++
            replies.push(ready, status)
            // back before anybody has noticed: once more
            if (unready === 0) killEmbedded(dataDir)
            return ready.status === 200 && unready > 0
          },
          (back) => back,
        )
      })
      const away = replies.filter(({ status }) => status !== 200)
      assert.ok(away.length > 0)
      away.forEach(assertAway)
      assert.equal(service.child.exitCode, null)
      const client = await connect(t, embeddedOf(dataDir).url)
      assert.notEqual(embeddedOf(dataDir).pid, pid)
      await assertAllThere(client, acknowledged)
      assert.equal((await service.confirm(clientSecret)).status, 200)
      await assertBoughtOnce(service, client, orderId)
    },
  )

  await t.test(
    'PostgreSQL is frozen: every request ends by itself with 503, and what is acknowledged afterwards is really kept',
    async () => {
      const [asked, paying] = [await ordered(service), await ordered(service)]
      const { pid, url } = embeddedOf(dataDir)
      const client = await connect(t, url)
      const frozen = freeze(t, pid)
      // for a moment /readyz may repeat an answer from before
      await eventually(
        () => service.call('GET', '/readyz'),
        ({ status }) => status === 503,
      )
      // a request that does not end by itself is given up by the test, which then fails
      const replies = Promise.all([1, 2, 3].flatMap(() => everything(service, asked)))
      assert.equal((await service.call('GET', '/healthz')).status, 200)
      for (const reply of await replies) assertAway(reply)
      frozen.thaw()
      await ready(service)

      // a connection that was given up in the middle of something must not be used for something else
      const replied = await times(40, () => service.checkout(newKey()))
      const acknowledged = replied.filter(({ status }) => status === 201).map(({ body }) => body.orderId)
      assert.ok(acknowledged.length > 0)
      await assertAllThere(client, acknowledged)
      assert.equal((await service.confirm(paying.clientSecret)).status, 200)
      await assertBoughtOnce(service, client, paying.orderId)
      await assertToldOnce(client)
    },
  )

  await t.test('on a signal the service stops its PostgreSQL too, and leaves no process running', async () => {
    const { pid } = embeddedOf(dataDir)
    const ended = once(service.child, 'exit')
    service.child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null], service.output())
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  })
}

async function givenUp(t: TestContext) {
  const databaseUrl = await newDatabase(t)
  const wire = await startDatabaseProxy(t, databaseUrl)
  const lost: Error[] = []
  const { db, close } = openPool(
    { connectionString: wire.url },
    { connections: 1, onError: (error) => lost.push(error) },
  )
  atEnd(t, close)
  await sql`create table kept (n int)`.execute(db)
  wire.stall()
  await assert.rejects(
    inTransaction(db, (tx) => sql`insert into kept values (1)`.execute(tx)),
    isDatabaseOutage,
  )
  wire.flow()
  await sql`insert into kept values (2)`.execute(db)
  const client = await connect(t, databaseUrl)
  assert.deepEqual(await rows(client, 'select n from kept'), [{ n: 2 }])
  assert.deepEqual(lost, [])
}

/** Stops a server and all its processes without a word to them, until it is thawed, at the latest when the test ends. */
function freeze(t: TestContext, pid: number) {
  const send = (signal: NodeJS.Signals, pids: number[]) => {
    for (const one of pids) {
      try {
        process.kill(one, signal)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
  // first the one that makes the others
  send('SIGSTOP', [pid])
  const family = familyOf(pid)
  send('SIGSTOP', family)
  const thaw = () => send('SIGCONT', family)
  atEnd(t, thaw)
  return { thaw }
}

test('a database whose machine or name is gone is an outage, and a lost file is none', () => {
  const failure = (code: string, syscall: string) => Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
  for (const code of ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN'])
    assert(isDatabaseOutage(failure(code, 'connect')), code)
  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) assert(isDatabaseOutage(failure(code, 'getaddrinfo')), code)
  assert(!isDatabaseOutage(failure('ENOENT', 'open')))
})
