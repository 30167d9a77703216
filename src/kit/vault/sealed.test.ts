import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { derivedKey } from '../signing.ts'
import { SealError, seal, unseal } from './sealed.ts'

const [KEY, OTHER] = ['a key of the tests', 'another key of the tests'].map((text) => derivedKey(text, 'backup'))
const CHUNK = 128 * 1024

async function* streamOf(bytes: Buffer, step = 50_000) {
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
}
const collected = async (bytes: AsyncIterable<Buffer>) => Buffer.concat(await Array.fromAsync(bytes))
const sealed = (bytes: Buffer, name = 'wal/1') => collected(seal(KEY!, name, streamOf(bytes)))
const opened = (bytes: Buffer, { name = 'wal/1', keys = [KEY!], step = 33_333 } = {}) =>
  collected(unseal(keys, name, streamOf(bytes, step)))
const isRefusedAs = (problem: string) => (error: unknown) => error instanceof SealError && error.problem === problem

test('bytes of any length come back, in any pieces, also with a key that is not the first', async () => {
  for (const length of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7]) {
    const bytes = randomBytes(length)
    const object = await sealed(bytes)
    for (const step of [1_000, CHUNK, 10 * CHUNK])
      assert((await opened(object, { step })).equals(bytes), `${length} by ${step}`)
    assert((await opened(object, { keys: [OTHER!, KEY!] })).equals(bytes))
  }
})

test('two objects of the same bytes have nothing in common', async () => {
  const bytes = Buffer.alloc(1000)
  const [one, other] = [await sealed(bytes), await sealed(bytes)]
  assert(!one.subarray(16).equals(other.subarray(16)))
  assert(!one.includes(Buffer.alloc(16)))
})

test('an object that was cut, changed, reordered, extended or renamed is refused', async () => {
  const object = await sealed(randomBytes(3 * CHUNK + 100))
  const header = 48
  const chunk = CHUNK + 16
  const swapped = Buffer.concat([
    object.subarray(0, header),
    object.subarray(header + chunk, header + 2 * chunk),
    object.subarray(header, header + chunk),
    object.subarray(header + 2 * chunk),
  ])
  for (const wrong of [
    ...[10, 100, chunk, header + chunk, header + 3 * chunk].map((length) => object.subarray(0, length)),
    object.subarray(0, -1),
    Buffer.concat([object, Buffer.from('x')]),
    Buffer.concat([object, object.subarray(-100)]),
    swapped,
    ...[header + 5, header + chunk + 5, object.length - 1].map((at) => {
      const changed = Buffer.from(object)
      changed[at]! ^= 1
      return changed
    }),
  ])
    await assert.rejects(opened(wrong), SealError)
  await assert.rejects(opened(object, { name: 'wal/2' }), isRefusedAs('damaged'))
  await assert.rejects(opened(Buffer.alloc(0)), isRefusedAs('damaged'))
})

test('another key and a file of something else are told apart', async () => {
  const object = await sealed(randomBytes(10))
  await assert.rejects(opened(object, { keys: [OTHER!] }), isRefusedAs('other_key'))
  await assert.rejects(opened(randomBytes(1000)), isRefusedAs('not_sealed'))
})
