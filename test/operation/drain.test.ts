import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { atEnd } from '../support/ends.ts'
import { type Service, request, serviceFolder, startService } from '../support/service.ts'
import { type Ends, eventually, newDatabase } from '../support/shop.ts'

const REPLACEMENTS = 5
const CLIENTS = 6
/** Far longer than a proxy needs to see it. A second signal ends it. */
const DRAIN_SECONDS = '600'
const LOOK_EVERY_MS = 50

/** The database took long on a machine with other work, which tells nothing about a service that is replaced. */
const isSlow = (body: { code?: string } | undefined) => body?.code === 'database_unavailable'

/**
 * A proxy in front of services: it keeps connections to those that are ready, checks each of them continuously, and passes errors
 * on to the client. It repeats nothing.
 */
async function startProxy(t: Ends) {
  const backends = new Map<string, { ready: boolean; running: number; agent: http.Agent }>()
  const proxy = http.createServer((incoming, outgoing) => {
    const ready = [...backends].filter(([, one]) => one.ready)
    const [url, backend] = ready[Math.floor(Math.random() * ready.length)] ?? []
    if (!backend) return void outgoing.writeHead(502).end()
    const { method, headers } = incoming
    backend.running += 1
    const passed = http.request(url + incoming.url!, { method, headers, agent: backend.agent }, (answer) => {
      outgoing.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] ?? '' })
      answer.pipe(outgoing)
    })
    passed.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()))
    passed.on('close', () => (backend.running -= 1))
    incoming.pipe(passed)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const over = new AbortController()
  const looking = (async () => {
    for (; !over.signal.aborted; await sleep(LOOK_EVERY_MS)) {
      for (const [url, one] of backends)
        one.ready = await request('GET', `${url}/readyz`).then(
          ({ status, body }) => status === 200 || (one.ready && isSlow(body)),
          () => false,
        )
    }
  })()
  atEnd(t, async () => {
    over.abort()
    await looking
    proxy.close()
    proxy.closeAllConnections()
    for (const { agent } of backends.values()) agent.destroy()
  })
  return {
    url: `http://127.0.0.1:${(proxy.address() as net.AddressInfo).port}`,
    async add({ url }: Service) {
      backends.set(url, { ready: false, running: 0, agent: new http.Agent({ keepAlive: true }) })
      while (!backends.get(url)!.ready) await sleep(LOOK_EVERY_MS)
    },
    /** Once the checks have found that it is not ready, and all that it was given has ended. */
    async remove({ url }: Service) {
      const backend = backends.get(url)!
      while (backend.ready || backend.running > 0) await sleep(LOOK_EVERY_MS)
      backends.delete(url)
    },
  }
}

test('a service that is replaced behind a proxy, again and again under load, breaks no request', async (t) => {
  const [dataDir, env] = [serviceFolder(t), { DATABASE_URL: await newDatabase(t), DRAIN_SECONDS }]
  const proxy = await startProxy(t)
  let service = await startService(t, dataDir, env)
  await proxy.add(service)
  const { productId } = service

  const statuses = new Map<string, number>()
  const over = new AbortController()
  const clients = Array.from({ length: CLIENTS }, async (_, at) => {
    while (!over.signal.aborted) {
      const [method, path, body] =
        at % 2 === 0
          ? (['POST', '/api/checkout', { productId, email: 'bob@example.com' }] as const)
          : (['GET', `/api/products/${productId}/public`, undefined] as const)
      const said = await request(method, proxy.url + path, body).then(
        ({ status, body }) => (isSlow(body) ? undefined : `${method} ${status}`),
        (error) => `${method} ${(error as Error).message}`,
      )
      if (said) statuses.set(said, (statuses.get(said) ?? 0) + 1)
      await sleep(5)
    }
  })
  try {
    for (let replaced = 0; replaced < REPLACEMENTS; replaced++) {
      const next = await startService(t, dataDir, env)
      await proxy.add(next)
      const ended = once(service.child, 'exit')
      service.child.kill('SIGTERM')
      await proxy.remove(service)
      service.child.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null])
      service = next
    }
  } finally {
    over.abort()
    await Promise.all(clients)
  }
  assert.deepEqual([...statuses.keys()].sort(), ['GET 200', 'POST 201'], JSON.stringify([...statuses]))
})

test('a draining service says so and still serves; a second signal ends it, and Ctrl-C does not wait', async (t) => {
  const [dataDir, env] = [serviceFolder(t), { DATABASE_URL: await newDatabase(t), DRAIN_SECONDS }]
  const { call, child, productId } = await startService(t, dataDir, env)
  const agent = new http.Agent({ keepAlive: true })
  atEnd(t, () => agent.destroy())
  const kept = await call('GET', '/readyz', undefined, { agent })
  assert.deepEqual([kept.status, kept.headers.connection], [200, 'keep-alive'])
  child.kill('SIGTERM')
  let ready = kept
  while (ready.status === 200) ready = await call('GET', '/readyz', undefined, { agent })
  assert.deepEqual([ready.status, ready.body.code, ready.headers.connection], [503, 'shutting_down', 'close'])
  const product = await call('GET', `/api/products/${productId}/public`)
  assert.deepEqual([product.status, product.headers.connection], [200, 'close'])
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])

  const other = await startService(t, dataDir, env)
  const otherEnded = once(other.child, 'exit')
  other.child.kill('SIGINT')
  assert.deepEqual(await otherEnded, [0, null])
})

test('a shared folder that no longer answers does not keep a service that stops', async (t) => {
  const dataDir = serviceFolder(t)
  const env = { DATABASE_URL: await newDatabase(t) }
  const service = await startService(t, dataDir, env)
  const { body } = await service.checkout()
  await service.confirm(body.clientSecret)
  const paid = await eventually(() => service.status(body.orderId, true), (one) => one.body.downloads?.length > 0) // oxfmt-ignore
  const [{ url }] = paid.body.downloads
  const ids = fs.readdirSync(path.join(dataDir, 'files'), { recursive: true, encoding: 'utf8' })
  // opening a FIFO without a writer never ends, as on a network disk whose server is away
  for (const id of ids.filter((one) => path.basename(one).startsWith('file_'))) {
    fs.rmSync(path.join(dataDir, 'files', id))
    execFileSync('mkfifo', [path.join(dataDir, 'files', id)])
  }
  const stopDuringDownload = async ({ child, url: at, status }: Service) => {
    const client = http.get(new URL(new URL(url).pathname, at), { agent: false }).on('error', () => {})
    await once(client, 'finish')
    await status(body.orderId)
    child.kill('SIGINT')
    return once(child, 'exit')
  }
  let ended = await stopDuringDownload(service)
  // the download had not come to its file yet
  for (let n = 0; n < 5 && ended[0] === 0; n++) ended = await stopDuringDownload(await startService(t, dataDir, env))
  assert.deepEqual(ended, [null, 'SIGKILL'])
})
