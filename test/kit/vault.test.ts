import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { openPlace } from '../../src/kit/vault/places.ts'
import { BUCKET, KEYS, startS3Server } from '../stand-ins/s3-server.ts'
import { type Ends, temporaryFolder } from '../support/shop.ts'

// A folder and a bucket as the place of a backup. `backup.test.ts` makes and restores whole backups.

/** Between two tries of one read. */
const PAUSE_MS = 1

async function bucket(t: Ends) {
  const server = await startS3Server(t)
  const { endpoint } = server
  const place = openPlace({ s3: { bucket: BUCKET, region: 'eu-test-1', endpoint, publicEndpoint: undefined, keys: KEYS } }, PAUSE_MS) // oxfmt-ignore
  return { server, place }
}

test('two writers of one object in a folder do not disturb each other', async (t) => {
  const place = openPlace({ folder: await temporaryFolder(t) })
  const bytes = randomBytes(100_000)
  const slow = new Readable({ read() {} })
  slow.push(bytes.subarray(0, 50_000))
  const second = place.put('files/1', slow)
  await place.put('files/1', Readable.from([bytes]))
  assert((await buffer((await place.read('files/1'))!)).equals(bytes), 'while the other one still writes')
  slow.push(bytes.subarray(50_000))
  slow.push(null)
  await second
  assert((await buffer((await place.read('files/1'))!)).equals(bytes))
  assert.deepEqual(await place.list(''), ['files/1'])
})

test('what root writes into a folder belongs to the owner of the folder', async (t) => {
  const root = await temporaryFolder(t)
  const isRoot = process.getuid?.() === 0
  if (isRoot) fs.chownSync(root, 4_321, 4_322)
  const { uid, gid } = fs.statSync(root)
  await openPlace({ folder: root }).put('base/1/data', Readable.from(['x']))
  for (const name of ['base', 'base/1', 'base/1/data']) {
    const made = fs.statSync(path.join(root, name))
    assert.deepEqual([made.uid, made.gid], [uid, gid], name)
  }
})

test('an answer that is cut goes on where it ended, as often as bytes came, and the bytes are the same', async (t) => {
  const { server, place } = await bucket(t)
  const bytes = randomBytes(3_000_000)
  await place.put('base/1/data', Readable.from([bytes]))
  Object.assign(server.weather, { cuts: 8, cutAfterBytes: 300_000 })
  assert((await buffer((await place.read('base/1/data'))!)).equals(bytes))
  assert.equal(server.weather.cuts, 0)
})

test('an object that changed after a cut is not put together out of two, and a place that sends nothing is an error', async (t) => {
  const { server, place } = await bucket(t)
  await place.put('base/1/data', Readable.from([randomBytes(100_000)]))
  Object.assign(server.weather, { cuts: 1, cutAfterBytes: 70_000 })
  const read = (await place.read('base/1/data'))!
  await place.put('base/1/data', Readable.from([randomBytes(100_000)]))
  await assert.rejects(buffer(read), { name: 'PreconditionFailed' })
  Object.assign(server.weather, { cuts: 100, cutAfterBytes: 0 })
  await assert.rejects(buffer((await place.read('base/1/data'))!))
})

test('a reader that stops early ends the request, and its own error is not taken for one of the place', async (t) => {
  const { place } = await bucket(t)
  await place.put('base/1/data', Readable.from([randomBytes(5_000_000)]))
  const read = (await place.read('base/1/data'))!
  const ended = new Promise((resolve) => read.once('error', resolve))
  read.once('data', () => read.destroy(new Error('the disk is full')))
  assert.equal(((await ended) as Error).message, 'the disk is full')
  const unread = (await place.read('base/1/data'))!
  unread.destroy()
  assert.equal(await place.read('base/2/data'), undefined)
})
