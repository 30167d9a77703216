import assert from 'node:assert/strict'
import dns from 'node:dns'
import { test } from 'node:test'
import { nameServerLookup } from '../../src/kit/public-address.ts'
import { type Sent, newSender } from '../../src/webhooks/send.ts'
import { startNameServer } from '../stand-ins/name-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { atEnd } from '../support/ends.ts'
import type { Ends } from '../support/shop.ts'
import { eventually } from '../support/shop.ts'

// How the names of receivers are found, by a name server that anybody may own.

const found = (server: { address: string }, name: string): Promise<string[]> =>
  new Promise((resolve, reject) =>
    nameServerLookup([server.address])(name, { all: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses.map(({ address, family }) => `${family} ${address}`)),
    ),
  )

function sender(t: Ends, options: Parameters<typeof newSender>[0]): (url: string) => Promise<Sent> {
  const { send, close } = newSender({ tryMs: 60_000, ...options })
  atEnd(t, close)
  return (url) => send({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' })
}

test('a name has addresses of one family or of both, or fails as a name', async (t) => {
  const server = await startNameServer(t, {
    'four.test': ['8.8.8.8', '1.1.1.1'],
    'six.test': ['2606:4700:4700::1111'],
    'both.test': ['8.8.8.8', '2606:4700:4700::1111'],
    'neither.test': [],
  })
  assert.deepEqual(await found(server, 'four.test'), ['4 8.8.8.8', '4 1.1.1.1'])
  assert.deepEqual(await found(server, 'six.test'), ['6 2606:4700:4700::1111'])
  assert.deepEqual(await found(server, 'both.test'), ['6 2606:4700:4700::1111', '4 8.8.8.8'])
  await assert.rejects(found(server, 'neither.test'), { code: 'ENODATA' })
  await assert.rejects(found(server, 'nobody.test'), { code: 'ENOTFOUND' })
  await assert.rejects(found(server, 'a..test'), { code: 'EBADNAME' })
  const post = sender(t, { reach: 'public', lookup: nameServerLookup([server.address]) })
  for (const name of ['neither.test', 'nobody.test', 'shop.refused'])
    assert.equal((await post(`https://${name}/`)).error, 'dns')
})

test('what name servers say is checked, and the connection goes to an address that was checked', async (t) => {
  const server = await startNameServer(t, {
    'receiver.test': ['::1', '127.0.0.1'],
    'mixed.test': ['8.8.8.8', '127.0.0.1'],
    'inside.test': ['10.0.0.8'],
  })
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const lookup = nameServerLookup([server.address])
  for (const name of ['receiver.test', 'mixed.test', 'inside.test'])
    assert.equal((await sender(t, { reach: 'public', lookup })(`https://${name}:${port}/`)).error, 'blocked', name)
  assert.equal(receiver.received.length, 0)
  // no server listens at ::1, so the connection goes to the other address
  const post = sender(t, { reach: 'any', lookup })
  assert.equal((await post(`http://receiver.test:${port}/`)).status, 204)
})

test('names whose servers are silent keep no other look-up of the process waiting', async (t) => {
  const server = await startNameServer(t, { 'four.test': ['8.8.8.8'] })
  const post = sender(t, { reach: 'public', lookup: nameServerLookup([server.address]) })
  let ended = 0
  const tries = Array.from({ length: 40 }, async (_, n) => {
    const { error } = await post(`https://n${n}.silent/`)
    ended++
    return error
  })
  await eventually(
    async () => server.held.length,
    (count) => count >= tries.length,
  )
  // the payments and the mails find their servers so
  await dns.promises.lookup('localhost')
  assert.deepEqual(await found(server, 'four.test'), ['4 8.8.8.8'])
  assert.equal(ended, 0)
  server.speak()
  assert.deepEqual(new Set(await Promise.all(tries)), new Set(['dns']))
})

test('receivers on the public internet are found by name servers, and those of other networks as the machine finds them', async (t) => {
  const machine = t.mock.method(dns, 'lookup', (_name: string, _options: object, callback: (error: Error) => void) =>
    callback(Object.assign(new Error('none'), { code: 'ENOTFOUND' })),
  )
  const servers = t.mock.method(dns.promises.Resolver.prototype, 'resolve4', async () => ['10.0.0.8'])
  t.mock.method(dns.promises.Resolver.prototype, 'resolve6', async () => ['fd00::8'])
  assert.equal((await sender(t, { reach: 'public' })('https://shop.example/')).error, 'blocked')
  assert.deepEqual([machine.mock.callCount(), servers.mock.callCount() > 0], [0, true])
  servers.mock.resetCalls()
  for (const reach of ['loopback', 'any'] as const)
    assert.equal((await sender(t, { reach })('https://shop.example/')).error, 'dns')
  assert.deepEqual([machine.mock.callCount(), servers.mock.callCount()], [2, 0])
})
