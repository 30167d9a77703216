import assert from 'node:assert/strict'
import type { FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bodyOf } from './bodies.ts'

const PIECE = 64 * 1024
const PIECES = 96

test('a body that comes slowly waits while nobody reads it, and is whole', async () => {
  let given = 0
  async function* pieces() {
    // slower than what is gathered into one piece before it is passed on
    for (; given < PIECES; given += 1) yield await sleep(3, Buffer.alloc(PIECE, given))
  }
  const raw = Readable.from(pieces(), { objectMode: false })
  const body = bodyOf({ raw } as unknown as FastifyRequest)
  body.once('readable', () => {})
  await sleep(PIECES * 6)
  const [held, came] = [body.readableLength, given]
  assert.ok(held <= 1.5 * 1024 ** 2, `${held} bytes are held`)
  assert.ok(came < PIECES / 2, `${came} pieces were taken`)
  const whole = await buffer(body)
  assert.equal(whole.length, PIECES * PIECE)
  for (let at = 0; at < PIECES; at += 1) assert.equal(whole[at * PIECE], at)
})
