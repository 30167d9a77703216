import { createHash } from 'node:crypto'
import { newSecret } from '../src/sellers/keys/secret.ts'
import { cycle, load, wire } from './load.ts'
import type { Result } from './report.ts'
import { WARM_UP_SECONDS, byTurns, medianOf, medians } from './rounds.ts'
import { idOf } from './sql.ts'
import type { Stage } from './stage.ts'
import { query } from './world.ts'

/** Short turns and many of them: the difference is small, and other load of the machine must be the same for both sides. */
const SECONDS = 0.1
const TURNS = 20
/** Many sellers with several keys each, so that a key is found among as many as a large service has. */
const SELLERS = 2000
const KEYS_EACH = 5

const hashOf = (token: string) => createHash('sha256').update(token).digest()
const sessionOf = (n: number): string => hashOf(`bench of keys ${n}`).toString('base64url')

/** GET /api/balance, once by a session and once by a key: the cost of a key's check. */
export async function measureKeys({ busy: { database, service } }: Stage): Promise<Result[]> {
  const sellers = Array.from({ length: SELLERS }, (_, n) => n)
  // the stage's service takes no test payments, so its keys are live
  const secrets = Array.from({ length: SELLERS * KEYS_EACH }, () => newSecret('live'))
  await query(
    database,
    `insert into sellers (id, name, email, email_proven_at)
      select ${idOf('sel_02a')('n')}, 'Seller ' || n, 'keys' || n || '@bench.example', now()
      from unnest($1::int[]) n`,
    [sellers],
  )
  await query(
    database,
    `insert into sessions (id, token_hash, seller_id, method)
      select ${idOf('ses_02a')('n')}, hash, ${idOf('sel_02a')('n')}, 'code'
      from unnest($1::int[], $2::bytea[]) t (n, hash)`,
    [sellers, sellers.map((n) => hashOf(sessionOf(n)))],
  )
  await query(
    database,
    `with given as (select n - 1 as n, hash from unnest($1::bytea[]) with ordinality t (hash, n)),
      made as (
        insert into api_keys (id, seller_id, name, scopes, expires_at)
        select ${idOf('key_02a')('n')}, ${idOf('sel_02a')('n % $2')}, 'Bench',
          array['balance:read', 'orders:read'], now() + interval '90 days' from given)
    insert into api_key_secrets (secret_hash, key_id, prefix, last_four)
    select hash, ${idOf('key_02a')('n')}, 'till_live_', 'xxxx' from given`,
    [secrets.map(hashOf), SELLERS],
  )
  await query(database, 'vacuum (analyze) sellers, sessions, api_keys, api_key_secrets')
  const bySession = sellers.map((n) =>
    wire('GET', '/api/balance', undefined, { cookie: `till_session=${sessionOf(n)}` }),
  )
  const byKey = secrets.map((secret) => wire('GET', '/api/balance', undefined, { authorization: `Bearer ${secret}` }))
  // each key's first use of the hour is noted, which is no part of its check
  await query(database, `update api_keys set last_used_at = date_trunc('hour', now(), 'UTC') + interval '1 hour'`)
  const ask = async (requests: Buffer[], connections: number, seconds = SECONDS) =>
    (await load({ port: service.port, connections, seconds, next: cycle(requests), status: 200 })).p50Ms
  const compare = async (connections: number) => {
    for (const requests of [bySession, byKey]) await ask(requests, connections, WARM_UP_SECONDS)
    const rounds = []
    for (let turn = 0; turn < TURNS; turn++)
      rounds.push(
        ...(await byTurns({ session: () => ask(bySession, connections), key: () => ask(byKey, connections) })),
      )
    return rounds
  }
  const [one, many] = [await compare(1), await compare(32)]
  return [
    {
      name: 'API key: what its check adds to a seller’s route beside a session, ms',
      value: medianOf(one, (round) => round.key! - round.session!),
      most: 0.1,
      parts: medians(one),
    },
    {
      name: 'API key: the same with 32 requests at once, of the time with a session',
      value: medianOf(many, (round) => round.key! / round.session!),
      most: 1.2,
      parts: medians(many),
    },
  ]
}
