import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Service, embeddedOf, serviceFolder, startService } from '../support/service.ts'

// People copy folders, whatever the documents say.

const WAIT_MS = 300_000

async function sell(service: Service): Promise<string> {
  const { body: order } = await service.checkout()
  assert.equal((await service.confirm(order.clientSecret)).status, 200)
  await assertPaid(service, order.orderId)
  return order.orderId
}

async function assertPaid(service: Service, orderId: string): Promise<void> {
  for (const end = Date.now() + WAIT_MS; !(await service.status(orderId, true)).body.paid; await sleep(50))
    assert(Date.now() < end, 'it was never paid')
}

async function stop({ child }: Service): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  assert.equal((await ended)[0], 0)
}

/** A copy with the access rights that new files of this account get, and without owners. */
function copy(dataDir: string, target: string): void {
  execFileSync('cp', ['-r', dataDir, target])
  for (const name of ['', 'postgres', 'postgres/data']) fs.chmodSync(path.join(target, name), 0o755)
}

test('a cold copy that lost its access rights starts elsewhere with every sale', async (t) => {
  const dataDir = serviceFolder(t)
  const service = await startService(t, dataDir)
  const orderId = await sell(service)
  await stop(service)
  const elsewhere = path.join(serviceFolder(t), 'copied')
  copy(dataDir, elsewhere)
  await assertPaid(await startService(t, elsewhere), orderId)
  assert.equal(fs.statSync(path.join(elsewhere, 'postgres', 'data')).mode & 0o777, 0o700)
})

test('a copy of a running service is a service of its own: neither ever uses the other’s database', async (t) => {
  const dataDir = serviceFolder(t)
  const first = await startService(t, dataDir)
  const before = await sell(first)
  const elsewhere = path.join(serviceFolder(t), 'copied')
  copy(dataDir, elsewhere)
  const second = await startService(t, elsewhere)
  assert.notEqual(embeddedOf(elsewhere).pid, embeddedOf(dataDir).pid)
  await assertPaid(second, before)
  const after = await sell(first)
  assert.equal((await second.status(after)).status, 404)
  assert.equal((await first.status(await sell(second))).status, 404)
})

test('the data can lie in a folder that no other account may enter, also for root', async (t) => {
  const closed = serviceFolder(t)
  fs.chmodSync(closed, 0o700)
  const dataDir = path.join(closed, 'data')
  const service = await startService(t, dataDir)
  const orderId = await sell(service)
  await stop(service)
  const elsewhere = path.join(closed, 'copied')
  copy(dataDir, elsewhere)
  await assertPaid(await startService(t, elsewhere), orderId)
})
