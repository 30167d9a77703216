import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fingerprintOf } from './fingerprint.ts'

const MEGABYTE = 1024 * 1024
const SIZE = 10 * MEGABYTE

const file = (bytes: Uint8Array<ArrayBuffer>, name = 'book.bin', lastModified = 1) =>
  new File([bytes], name, { lastModified })

/** The bytes of a file that contains `text` at one place. */
function bytesWith(text: string, at: number, size = SIZE): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  bytes.set(new TextEncoder().encode(text), at)
  return bytes
}

test('the same file has the same fingerprint, and each of its marks counts', async () => {
  const bytes = bytesWith('one', 0)
  const first = await fingerprintOf(file(bytes))
  assert.equal(await fingerprintOf(file(bytesWith('one', 0))), first)
  for (const other of [file(bytes, 'other.bin'), file(bytes, 'book.bin', 2), file(bytesWith('one', 0, SIZE + 1))])
    assert.notEqual(await fingerprintOf(other), first)
})

test('two files of one name, size, time and edges that differ between the edges are two files', async () => {
  // Half of one file is already sent. The rest of the other file must not be appended to it.
  for (const from of [2 * MEGABYTE, 5 * MEGABYTE, 8 * MEGABYTE]) {
    const changed = new Uint8Array(SIZE).fill(7, from, from + MEGABYTE / 2)
    assert.notEqual(await fingerprintOf(file(changed)), await fingerprintOf(file(new Uint8Array(SIZE))))
  }
})

test('a file that is all edge is compared as a whole', async () => {
  for (const size of [0, 1, 2 * MEGABYTE]) {
    const bytes = new Uint8Array(size)
    const first = await fingerprintOf(file(bytes))
    assert.equal(await fingerprintOf(file(bytes)), first)
    if (size > 0) assert.notEqual(await fingerprintOf(file(bytesWith('x', size - 1, size))), first)
  }
})
