import Fastify from 'fastify'
import { argon2, randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import pg from 'pg'
import { newId } from '../src/kit/ids.ts'
import { MAKE_ORDER, READ_ORDER } from './sql.ts'

// The baseline for everything else: a route with one statement, and nothing else. It ends with its parent.

const CONNECTIONS = 16
const PASSWORD = {
  message: 'four lazy pelicans juggle',
  nonce: randomBytes(16),
  memory: 19_456,
  passes: 2,
  parallelism: 1,
  tagLength: 32,
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS })
const server = Fastify()
const hash = promisify(argon2)

server.post('/orders', async (request, reply) => {
  const { productId, email } = request.body as { productId: string; email: string }
  const values = [newId('ord'), email, productId]
  const { rows } = await pool.query({ name: 'make', text: MAKE_ORDER('$1', '$2', '$3'), values })
  return reply.code(201).send(rows[0])
})

server.get('/orders/:id', async (request) => {
  const { id } = request.params as { id: string }
  const { rows } = await pool.query({ name: 'read', text: READ_ORDER, values: [id] })
  return rows[0]
})

/** The milliseconds that a password hash takes, for each of several hashes one after the other. */
server.get('/hashes/:count', async (request) => {
  const { count } = request.params as { count: string }
  const times: number[] = []
  while (times.length < Number(count)) {
    const began = performance.now()
    await hash('argon2id', PASSWORD)
    times.push(performance.now() - began)
  }
  return times
})

process.once('disconnect', () => process.exit(0))
await server.listen({ port: 0, host: '127.0.0.1' })
process.send!((server.server.address() as AddressInfo).port)
