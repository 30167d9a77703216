import { hashPassword } from '../src/kit/password-hash.ts'
import { paidOrders } from './fill.ts'
import { load, wire } from './load.ts'
import type { Result } from './report.ts'
import { WARM_UP_SECONDS, byTurns, medians } from './rounds.ts'
import type { Stage } from './stage.ts'
import { type Database, query } from './world.ts'

const SECONDS = 2
const KNOWN = 'known@equal-times.example'
const WITHOUT = 'without@equal-times.example'
/** A stranger could tell the two apart by some hundred requests from here on. */
const MOST_APART = 1.25

/**
 * An answer must not tell by its time whether a mailbox is known: the tests hold that the same work is done, and this that it
 * takes as long. One request at a time, and the sides by turns.
 */
export async function measureEqualTimes({ busy: { database, service } }: Stage): Promise<Result[]> {
  await signUp(database)
  const [buyer] = await paidOrders(database, 1)
  let strangers = 0
  const stranger = () => `stranger${strangers++}@equal-times.example`
  const compare = async (
    name: string,
    send: (email: string) => Buffer,
    status: number,
    mailboxes: Record<string, () => string>,
  ): Promise<Result> => {
    const sides = Object.entries(mailboxes).map(
      ([side, mailbox]) =>
        [
          side,
          async (seconds = SECONDS) =>
            (await load({ port: service.port, connections: 1, seconds, next: () => send(mailbox()), status })).p50Ms,
        ] as const,
    )
    for (const [, measure] of sides) await measure(WARM_UP_SECONDS)
    const rounds = await byTurns(Object.fromEntries(sides.map(([side, measure]) => [side, () => measure()])))
    const parts = medians(rounds)
    const middles = Object.values(parts)
    return {
      name: `${name}: p50 of the slowest kind of mailbox, of the fastest`,
      value: Math.max(...middles) / Math.min(...middles),
      most: MOST_APART,
      parts,
    }
  }
  const password = (email: string) =>
    wire('POST', '/api/auth/password', JSON.stringify({ email, password: 'something that is wrong' }))
  const code = (email: string) => wire('POST', '/api/auth/otp', JSON.stringify({ email }))
  const chargeCode = (email: string) => wire('POST', '/api/charges/code', JSON.stringify({ email, descriptor: 'TILL' }))
  const known = () => KNOWN
  return [
    await compare('a wrong password', password, 401, { known, unknown: stranger, without: () => WITHOUT }),
    await compare('a sign-in code', code, 202, { known, unknown: stranger }),
    await compare('a code for a charge', chargeCode, 202, { buyer: () => buyer!.email, stranger }),
  ]
}

/** One seller with a password and one without. */
async function signUp(database: Database): Promise<void> {
  await query(
    database,
    `insert into sellers (id, name, email, email_proven_at)
      select 'sel_02' || lpad(n::text, 24, '0'), email, email, now() from unnest($1::text[]) with ordinality t (email, n)`,
    [[KNOWN, WITHOUT]],
  )
  await query(database, `insert into passwords (seller_id, hash) values ('sel_02' || lpad('1', 24, '0'), $1)`, [
    await hashPassword('four lazy pelicans juggle'),
  ])
}
