import { spawnSync } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { runChild } from './children.ts'
import type { Database, World } from './world.ts'

const CLIENTS = 32
const PGBENCH_THREADS = 2
/** `:n`, and not the end of a cast. */
const NUMBER = /(?<!:):n\b/g

/**
 * How often a second the database runs these statements one after another for each of 32 clients, prepared, with no service
 * in between. `:n` in them is a number that no other run of them has had, from `first` on.
 */
export async function statementsPerSecond(
  world: World,
  database: Database,
  { statements, first, seconds }: { statements: readonly string[]; first: number; seconds: number },
): Promise<number> {
  return hasPgbench
    ? withPgbench(world, database, statements, first, seconds)
    : withDriver(database, statements, first, seconds)
}

export const hasPgbench = spawnSync('pgbench', ['--version']).status === 0

async function withPgbench(
  { dir }: World,
  { host, port, user, password, name }: Database,
  statements: readonly string[],
  first: number,
  seconds: number,
): Promise<number> {
  const script = path.join(dir, 'statements.sql')
  const count = [`\\set i :i + 1`, `\\set n :first + :i * ${CLIENTS} + :client_id`]
  await fs.writeFile(script, [...count, ...statements.map((text) => `${text};`), ''].join('\n'))
  const where = ['-h', host, '-p', String(port), '-U', user]
  const how = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-j', String(PGBENCH_THREADS), '-T', String(seconds)]
  const values = ['-D', 'i=-1', '-D', `first=${first}`]
  const printed = await runChild('pgbench', [...where, ...how, ...values, '-f', script, name], { PGPASSWORD: password })
  const rate = Number(/^tps = ([\d.]+)/m.exec(printed)?.[1])
  if (!(rate > 0)) throw new Error(`pgbench said:\n${printed}`)
  return rate
}

/** Without pgbench the driver runs the same statements. It costs more, so its rate is a lower limit. */
async function withDriver(
  { url }: Database,
  statements: readonly string[],
  first: number,
  seconds: number,
): Promise<number> {
  const named = statements.map((text, at) => {
    const uses = text.search(NUMBER) >= 0
    return { name: uses ? `bench-${at}-${text.length}` : undefined, text: text.replace(NUMBER, '$1'), uses }
  })
  let done = 0
  const clients = Array.from({ length: CLIENTS }, () => new pg.Client({ connectionString: url }))
  try {
    await Promise.all(clients.map((client) => client.connect()))
    const began = performance.now()
    const end = began + seconds * 1000
    await Promise.all(
      clients.map(async (client, at) => {
        for (let n = first + at; performance.now() < end; n += CLIENTS) {
          for (const { name, text, uses } of named) await client.query({ name, text, values: uses ? [n] : [] })
          done++
        }
      }),
    )
    return done / ((performance.now() - began) / 1000)
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}
