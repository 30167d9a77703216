import assert from 'node:assert/strict'
import type { FastifyRequest } from 'fastify'
import { Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { bodyOf } from './bodies.ts'

const PIECE = 64 * 1024
const PIECES = 96
/** At least the time in which a piece is gathered before it is passed on. */
const GATHERED_MS = 10
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a body that arrives slowly waits until it is read, and is complete', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let given = 0
  async function* pieces() {
    for (; given < PIECES; given += 1) {
      await turn()
      t.mock.timers.tick(GATHERED_MS)
      yield Buffer.alloc(PIECE, given)
    }
  }
  const raw = Readable.from(pieces(), { objectMode: false })
  const body = bodyOf({ raw } as unknown as FastifyRequest)
  body.once('readable', () => {})
  // A piece arrives in each turn. The body takes no more once several turns have passed without one.
  for (let before = -1; before !== given;) {
    before = given
    for (let turns = 0; turns < 20; turns += 1) await turn()
  }
  const [held, came] = [body.readableLength, given]
  assert.ok(held <= 1.5 * 1024 ** 2, `${held} bytes are held`)
  assert.ok(came < PIECES / 2, `${came} pieces were taken`)
  const whole = await buffer(body)
  assert.equal(whole.length, PIECES * PIECE)
  for (let at = 0; at < PIECES; at += 1) assert.equal(whole[at * PIECE], at)
})

test('a file that passes leaves few dead buffers behind, however long it is', async () => {
  const megabytes = 512
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  let sent = 0
  const raw = new Readable({
    read() {
      // as a socket gives them: each in a buffer of its own
      this.push(sent++ < megabytes * 16 ? Buffer.allocUnsafeSlow(PIECE) : null)
    },
  })
  const slow = new Writable({
    write(_piece: Buffer, _encoding, done) {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      // the pieces lie about for as long as a disk takes
      setImmediate(done)
    },
  })
  await pipeline(bodyOf({ raw } as unknown as FastifyRequest), slow)
  // the bytes between two collections, as received and as passed on, and those under way
  assert.ok(most <= 32 * 1024 ** 2, `${(most / 1024 ** 2).toFixed(0)} MB were held of ${megabytes}`)
})
