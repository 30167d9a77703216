import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeKey, programWith, signedInAnn } from '../support/keys.ts'
import { count, newBrowser, newMailbox, sharedPair } from '../support/seller.ts'
import { sweepKeys } from '../../src/sellers/keys/keys.ts'
import { sweepActivity } from '../../src/sellers/keys/uses.ts'
import { assertProblem, eventually, startTestShop } from '../support/shop.ts'

/** Two instances, because a key that is revoked at one of them must end at the other. */
const pair = sharedPair()

const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

test('a key is shown once, and only its hash is stored', async () => {
  const [shop] = pair()
  const ann = await signedInAnn(shop)
  const { id, secret, key } = await makeKey(ann, ['orders:read', 'orders:read'], { name: '  Order sync ' })
  assert.match(secret, /^till_test_[0-9A-Za-z]{38}$/)
  const days = (Date.parse(key.expiresAt) - Date.parse(key.createdAt)) / DAY_MS
  assert(Math.abs(days - 90) < 0.1, String(days))
  const { body } = await ann.call('GET', '/api/keys?limit=100')
  assert(!JSON.stringify(body).includes(secret.slice(10, -4)))
  assert.deepEqual(
    body.items.find((one: { id: string }) => one.id === id),
    {
      id,
      name: 'Order sync',
      prefix: 'till_test_',
      lastFour: secret.slice(-4),
      status: 'active',
      scopes: ['orders:read'],
      productIds: null,
      createdAt: key.createdAt,
      expiresAt: key.expiresAt,
      revokedAt: null,
      lastUsedAt: null,
      lastUsedRoute: null,
      madeBy: null,
      replaced: [],
    },
  )
  const { rows } = await sql<{ all: string }>`
    select (select string_agg(to_jsonb(k)::text, '') from api_keys k) || (select string_agg(to_jsonb(s)::text, '') from api_key_secrets s)
      || coalesce((select string_agg(to_jsonb(j)::text, '') from pgboss.job j), '') || coalesce((select string_agg(to_jsonb(o)::text, '') from outbox o), '') as all`.execute(shop.db) // oxfmt-ignore
  assert(!rows[0]!.all.includes(secret.slice(10, -4)))
})

test('making and rolling a key need a sign-in of the last ten minutes, and revoking one does not', async () => {
  const [shop] = pair()
  const ann = newBrowser(shop)
  const email = newMailbox()
  await ann.signInByCode(email)
  const { id } = await makeKey(ann, ['orders:read'])
  await sql`
    update sessions set created_at = now() - interval '11 minutes'
    where seller_id = (select id from sellers where email = ${email})`.execute(shop.db)
  const asked = { name: 'Another', scopes: ['orders:read'] }
  assertProblem(await ann.call('POST', '/api/keys', asked), 403, 'recent_sign_in_required')
  assertProblem(await ann.call('POST', `/api/keys/${id}/roll`, { overlapHours: 1 }), 403, 'recent_sign_in_required')
  assert.equal((await ann.call('DELETE', `/api/keys/${id}`)).status, 204)
})

test('a wrong wish is refused, and makes no key', async () => {
  const [shop] = pair()
  const ann = await signedInAnn(shop)
  const before = await count(shop, 'api_keys')
  for (const wrong of [
    { scopes: [] },
    { scopes: ['orders:delete'] },
    { scopes: ['*'] },
    { name: ' ' },
    { name: 'a\u202eb' },
    { name: 'x'.repeat(101) },
    { expiresAt: '2020-01-01T00:00:00Z' },
    { expiresAt: '2099-02-30T00:00:00Z' },
    { expiresAt: '2099-01-01' },
    { productIds: [] },
    { productIds: ['prod_x'] },
  ])
    assertProblem(
      await ann.call('POST', '/api/keys', { name: 'A key', scopes: ['orders:read'], ...wrong }),
      400,
      'validation_failed',
    )
  const { id } = await makeKey(ann, ['orders:read'])
  for (const overlapHours of [-1, 169, 1.5, '1', null])
    assertProblem(await ann.call('POST', `/api/keys/${id}/roll`, { overlapHours }), 400, 'validation_failed')
  assert.equal(await count(shop, 'api_keys'), before + 1)
})

test('a key that never ends is a choice', async () => {
  const [shop] = pair()
  const ann = await signedInAnn(shop)
  assert.equal((await makeKey(ann, ['orders:read'], { expiresAt: null })).key.expiresAt, null)
  const end = inDays(400)
  assert.equal((await makeKey(ann, ['orders:read'], { expiresAt: end })).key.expiresAt, end)
})

test('a key makes only keys that may do no more than itself, and end no later', async () => {
  const [shop] = pair()
  const ann = await signedInAnn(shop)
  const [one, two] = [await shop.product(), await shop.product()]
  const scopes = ['keys:write', 'orders:read']
  const maker = await makeKey(ann, scopes, { expiresAt: inDays(10), productIds: [one] })
  const program = programWith(shop, maker.secret)
  for (const wish of [
    { scopes: ['orders:write'] },
    { scopes: ['orders:read', 'refunds:write'] },
    { expiresAt: null },
    { expiresAt: inDays(11) },
    { productIds: [two] },
    { productIds: [one, two] },
  ])
    assertProblem(
      await program.call('POST', '/api/keys', { name: 'Stronger', scopes: ['orders:read'], ...wish }),
      403,
      'key_too_weak',
    )
  // a new key takes from its maker the values that the request does not name
  const { key } = await makeKey(program, ['orders:read'])
  assert.deepEqual(
    { ends: key.expiresAt, productIds: key.productIds, madeBy: key.madeBy },
    { ends: maker.key.expiresAt, productIds: [one], madeBy: maker.id },
  )
})

test('a key neither rolls nor revokes a stronger one', async () => {
  const [shop] = pair()
  const ann = await signedInAnn(shop)
  const program = programWith(shop, (await makeKey(ann, ['keys:write', 'orders:read'])).secret)
  const stronger = [
    await makeKey(ann, ['refunds:write']),
    await makeKey(ann, ['orders:read'], { expiresAt: null }),
    await makeKey(ann, ['orders:read'], { expiresAt: inDays(200) }),
  ]
  for (const { id, secret } of stronger) {
    assertProblem(await program.call('POST', `/api/keys/${id}/roll`, { overlapHours: 0 }), 403, 'key_too_weak')
    assertProblem(await program.call('DELETE', `/api/keys/${id}`), 403, 'key_too_weak')
    assert.notEqual((await programWith(shop, secret).call('GET', '/api/orders')).status, 401)
  }
})

test('a rolled key works with both secrets until the overlap is over, and then with the new one', async () => {
  const [shop, other] = pair()
  const ann = await signedInAnn(shop)
  const first = await makeKey(ann, ['orders:read'])
  const rolled = await ann.call('POST', `/api/keys/${first.id}/roll`, { overlapHours: 24 })
  assert.equal(rolled.status, 200, JSON.stringify(rolled.body))
  const { secret, key } = rolled.body
  assert.notEqual(secret, first.secret)
  assert.equal(key.id, first.id)
  assert.equal(key.lastFour, secret.slice(-4))
  assert.deepEqual(key.replaced.map(({ lastFour }: { lastFour: string }) => lastFour), [first.secret.slice(-4)]) // oxfmt-ignore
  for (const service of [shop, other])
    for (const one of [first.secret, secret])
      assert.equal((await programWith(service, one).call('GET', '/api/orders')).status, 200)
  // a second roll without overlap ends both
  const again = await ann.call('POST', `/api/keys/${first.id}/roll`, { overlapHours: 0 })
  for (const one of [first.secret, secret])
    assertProblem(await programWith(other, one).call('GET', '/api/orders'), 401, 'key_revoked')
  assert.equal((await programWith(other, again.body.secret).call('GET', '/api/orders')).status, 200)
})

test('rolling begins the lifetime again for the seller, and never for a key', async () => {
  const [shop] = pair()
  const ann = await signedInAnn(shop)
  const { id, secret, key } = await makeKey(ann, ['keys:write'], { expiresAt: inDays(30) })
  await sql`
    update api_keys set rolled_at = rolled_at - interval '20 days', expires_at = expires_at - interval '20 days'
    where id = ${id}`.execute(shop.db)
  const left = (answer: { body: any }) => Math.round((Date.parse(answer.body.key.expiresAt) - Date.now()) / DAY_MS)
  const byItself = await programWith(shop, secret).call('POST', `/api/keys/${id}/roll`, { overlapHours: 1 })
  assert.equal(left(byItself), 10, JSON.stringify(byItself.body))
  // the old secret ends with the key, however long the overlap is
  const byAnn = await ann.call('POST', `/api/keys/${id}/roll`, { overlapHours: 168 })
  assert.equal(left(byAnn), 30)
  assert(Date.parse(byAnn.body.key.replaced[0].endsAt) < Date.parse(key.expiresAt))
})

test('ended keys are not rolled, and ten rolls at once leave one newest secret', async () => {
  const [shop, other] = pair()
  const ann = await signedInAnn(shop)
  const { id } = await makeKey(ann, ['orders:read'])
  const elsewhere = ann.through(other)
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => (at % 2 ? ann : elsewhere).call('POST', `/api/keys/${id}/roll`, { overlapHours: 0 })), // oxfmt-ignore
  )
  assert.deepEqual(answers.map(({ status }) => status), answers.map(() => 200)) // oxfmt-ignore
  assert.equal(await count(shop, 'api_key_secrets', sql`key_id = ${id} and ends_at is null`), 1)
  const works = await Promise.all(answers.map(({ body }) => programWith(other, body.secret).call('GET', '/api/orders')))
  assert.equal(works.filter(({ status }) => status === 200).length, 1)
  await ann.call('DELETE', `/api/keys/${id}`)
  assertProblem(await ann.call('POST', `/api/keys/${id}/roll`, { overlapHours: 1 }), 409, 'key_ended')
})

test('a revoked key ends at once on every instance, with the keys that it made', async () => {
  const [shop, other] = pair()
  const ann = await signedInAnn(shop)
  const parent = await makeKey(ann, ['keys:write', 'orders:read'])
  const child = await makeKey(programWith(shop, parent.secret), ['keys:write', 'orders:read'])
  const grandchild = await makeKey(programWith(other, child.secret), ['orders:read'])
  const stranger = await makeKey(ann, ['orders:read'])
  assert.equal((await programWith(other, grandchild.secret).call('GET', '/api/orders')).status, 200)
  assert.equal((await ann.call('DELETE', `/api/keys/${parent.id}`)).status, 204)
  for (const { secret } of [parent, child, grandchild])
    assertProblem(await programWith(other, secret).call('GET', '/api/orders'), 401, 'key_revoked')
  assert.equal((await programWith(other, stranger.secret).call('GET', '/api/orders')).status, 200)
})

test('a revoked key lists no older secret as one that still works', async () => {
  const [shop] = pair()
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['orders:read'])
  const rolled = await ann.call('POST', `/api/keys/${id}/roll`, { overlapHours: 168 })
  await ann.call('DELETE', `/api/keys/${id}`)
  assertProblem(await programWith(shop, secret).call('GET', '/api/orders'), 401, 'key_revoked')
  const { body } = await ann.call('GET', '/api/keys?limit=100')
  const { status, lastFour, replaced } = body.items.find((one: { id: string }) => one.id === id)
  assert.deepEqual([status, lastFour, replaced], ['revoked', rolled.body.secret.slice(-4), []])
})

test('a signed-in seller who rolls a key without overlap ends the keys that it made, and the key goes on', async () => {
  const [shop, other] = pair()
  const ann = newBrowser(shop)
  await ann.signInByCode(newMailbox())
  const stolen = await makeKey(ann, ['keys:write', 'orders:read'], { name: 'Stolen' })
  const child = await makeKey(programWith(shop, stolen.secret), ['keys:write', 'orders:read'], { name: 'Child' })
  const grandchild = await makeKey(programWith(other, child.secret), ['orders:read'], { name: 'Grandchild' })
  const another = await makeKey(ann, ['keys:write', 'orders:read'], { expiresAt: null })
  const roll = (caller: Pick<typeof ann, 'call'>, overlapHours: number) =>
    caller.call('POST', `/api/keys/${stolen.id}/roll`, { overlapHours })
  const opens = async ({ secret }: { secret: string }) =>
    (await programWith(other, secret).call('GET', '/api/orders')).status === 200

  // with an overlap the owner replaces a secret that is still safe
  const { secret } = (await roll(ann, 1)).body
  // and a program changes its own secret, or that of another key, and needs the keys that were made
  const byItself = await roll(programWith(shop, secret), 0)
  const byAnother = await roll(programWith(shop, another.secret), 0)
  assert.deepEqual([byItself.status, byAnother.status], [200, 200])
  assert.deepEqual([await opens(child), await opens(grandchild)], [true, true])

  const { status, body } = await roll(ann, 0)
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.key.status, body.key.revokedAt], ['active', null])
  for (const { secret } of [child, grandchild])
    assertProblem(await programWith(other, secret).call('GET', '/api/orders'), 401, 'key_revoked')
  assert.deepEqual([await opens(stolen), await opens(byAnother.body), await opens(body)], [false, false, true])
  assert(await opens(another), 'a key of another maker goes on')
  const history = (await ann.call('GET', '/api/auth/history')).body.items
  assert.deepEqual(
    history.filter(({ what }: { what: string }) => what === 'key_revoked').map(({ keyName }: { keyName: string }) => keyName).sort(), // oxfmt-ignore
    ['Child', 'Grandchild'],
  )
})

test('a key that is revoked while it makes others leaves none behind', async () => {
  const [shop, other] = pair()
  const ann = await signedInAnn(shop)
  const parent = await makeKey(ann, ['keys:write'])
  const [ended, ...made] = await Promise.all([
    ann.call('DELETE', `/api/keys/${parent.id}`),
    ...Array.from({ length: 8 }, () =>
      programWith(other, parent.secret).call('POST', '/api/keys', { name: 'Quick', scopes: ['keys:write'] }),
    ),
  ])
  assert.equal(ended.status, 204)
  for (const answer of made) if (answer.status !== 201) assertProblem(answer, 401, 'key_revoked')
  assert.equal(await count(shop, 'api_keys', sql`made_by = ${parent.id} and revoked_at is null`), 0)
})

test('a key that is rolled without overlap while it makes others leaves none behind, and no other secret', async () => {
  const [shop, other] = pair()
  const ann = await signedInAnn(shop)
  const parent = await makeKey(ann, ['keys:write'])
  const [rolled, ...made] = await Promise.all([
    ann.call('POST', `/api/keys/${parent.id}/roll`, { overlapHours: 0 }),
    ...Array.from({ length: 8 }, (_, at) =>
      at % 2 === 0
        ? programWith(other, parent.secret).call('POST', '/api/keys', { name: 'Quick', scopes: ['keys:write'] })
        : programWith(other, parent.secret).call('POST', `/api/keys/${parent.id}/roll`, { overlapHours: 168 }),
    ),
  ])
  assert.equal(rolled.status, 200, JSON.stringify(rolled.body))
  for (const answer of made) assert([200, 201, 401].includes(answer.status), JSON.stringify(answer.body))
  assert.equal(await count(shop, 'api_keys', sql`made_by = ${parent.id} and revoked_at is null`), 0)
  assert.equal(await count(shop, 'api_key_secrets', sql`key_id = ${parent.id} and coalesce(ends_at > now(), true)`), 1)
})

test('a seller has at most a hundred keys that work', async () => {
  const [shop] = pair()
  const ann = newBrowser(shop)
  await ann.signInByCode()
  const { id } = await makeKey(ann, ['orders:read'])
  await sql`
    insert into api_keys (id, seller_id, name, scopes)
    select 'key_' || lpad(n::text, 26, '0'), seller_id, name, scopes from api_keys, generate_series(1, 99) n
    where id = ${id}`.execute(shop.db)
  assertProblem(await ann.call('POST', '/api/keys', { name: 'x', scopes: ['orders:read'] }), 409, 'too_many_keys')
  assert.equal((await ann.call('DELETE', `/api/keys/${id}`)).status, 204)
  await makeKey(ann, ['orders:read'])
})

test('the owner gets a mail about a new key and a new secret, and finds all of it in the account’s history', async () => {
  const [shop] = pair()
  const ann = newBrowser(shop)
  const email = newMailbox()
  await ann.signInByCode(email)
  const { id, secret } = await makeKey(ann, ['orders:read'], { name: 'Order <b>sync</b>' })
  const rolled = await ann.call('POST', `/api/keys/${id}/roll`, { overlapHours: 0 })
  await ann.call('DELETE', `/api/keys/${id}`)
  const mails = await eventually(
    async () => (await shop.mails(email)).filter(({ subject }) => subject.includes('API key')),
    ({ length }) => length === 2,
  )
  for (const { text, html } of mails) {
    assert.match(text, /Order <b>sync<\/b>/)
    assert(!html.includes('<b>sync'))
    for (const one of [secret, rolled.body.secret]) assert(!`${text}${html}`.includes(one.slice(10, -4)))
  }
  const { body } = await ann.call('GET', '/api/auth/history')
  assert.deepEqual(
    body.items.map(({ what, keyName }: { what: string; keyName: string }) => `${what} ${keyName}`),
    ['key_revoked', 'key_rolled', 'key_created'].map((what) => `${what} Order <b>sync</b>`),
  )
})

test('a seller makes and rolls only so many keys in an hour, and a stolen key uses up only the count of keys', async (t) => {
  const shop = await startTestShop(t, { env: { LIMITS: 'key_secret=2/3600' } })
  const ann = await signedInAnn(shop)
  const { id, secret } = await makeKey(ann, ['keys:write'])
  const program = programWith(shop, secret)
  const { secret: another } = await makeKey(program, ['keys:write'])
  await makeKey(programWith(shop, another), ['keys:write'])
  for (const stolen of [program, programWith(shop, another)])
    assertProblem(await stolen.call('POST', '/api/keys', { name: 'x', scopes: ['keys:write'] }), 429, 'rate_limited')
  assert.equal((await ann.call('POST', `/api/keys/${id}/roll`, { overlapHours: 1 })).status, 200)
  for (const caller of [ann, program]) {
    assertProblem(await caller.call('POST', '/api/keys', { name: 'x', scopes: ['keys:write'] }), 429, 'rate_limited')
    assertProblem(await caller.call('POST', `/api/keys/${id}/roll`, { overlapHours: 1 }), 429, 'rate_limited')
  }
  assert.equal((await ann.call('DELETE', `/api/keys/${id}`)).status, 204)
})

test('keys, old secrets and what keys have changed are removed long after their end, and no sooner', async () => {
  const [shop] = pair()
  const ann = newBrowser(shop)
  await ann.signInByCode()
  const [kept, revoked, expired, rolled] = [
    await makeKey(ann, ['keys:write']),
    await makeKey(ann, ['keys:write']),
    await makeKey(ann, ['orders:read']),
    await makeKey(ann, ['orders:read'], { expiresAt: null }),
  ]
  // a key outlives the one that made it, in the list
  await ann.call('POST', `/api/keys/${rolled.id}/roll`, { overlapHours: 0 })
  await programWith(shop, kept.secret).call('DELETE', `/api/keys/${kept.id}`)
  await ann.call('DELETE', `/api/keys/${revoked.id}`)
  const mine = sql`seller_id = (select seller_id from api_keys where id = ${rolled.id})`
  const sweep = async () => {
    await sweepKeys(shop.db)
    await sweepActivity(shop.db)
  }
  const left = async () => [
    await count(shop, 'api_keys', mine),
    await count(shop, 'api_key_secrets', sql`key_id in (select id from api_keys where ${mine})`),
    await count(shop, 'key_activity', mine),
  ]
  await sweep()
  assert.deepEqual(await left(), [4, 5, 1])
  await sql`update api_keys set revoked_at = now() - interval '91 days' where id = ${revoked.id}`.execute(shop.db)
  await sql`
    update api_keys set rolled_at = now() - interval '181 days', expires_at = now() - interval '91 days'
    where id = ${expired.id}`.execute(shop.db)
  await sql`
    update api_key_secrets set ends_at = now() - interval '91 days'
    where key_id = ${rolled.id} and ends_at is not null`.execute(shop.db)
  await sql`update key_activity set at = now() - interval '366 days' where ${mine}`.execute(shop.db)
  await sweep()
  assert.deepEqual(await left(), [2, 2, 0])
})

test('of the activity of keys only so much is kept for a seller, and refused requests do not push out changes', async () => {
  const [shop] = pair()
  const [ann, bob] = [await signedInAnn(shop), newBrowser(shop)]
  await bob.signInByCode(newMailbox())
  const [{ id }, { id: other }] = [await makeKey(ann, ['orders:read']), await makeKey(bob, ['orders:read'])]
  const add = (keyId: string, path: string, status: number | null, times: number) =>
    sql`
      insert into key_activity (seller_id, key_id, key_name, last_four, method, path, status)
      select seller_id, id, name, 'abcd', 'DELETE', ${path}, ${status}::smallint
      from api_keys, generate_series(1, ${times}::int) where id = ${keyId}`.execute(shop.db)
  const kept = async (keyId: string) => {
    const { rows } = await sql<{ path: string; count: number }>`
      select path, count(*)::int as count from key_activity where key_id = ${keyId} group by path order by min(id)`.execute(
      shop.db,
    )
    return rows.map(({ path, count }) => [path, count])
  }
  await sql`delete from key_activity`.execute(shop.db)
  await add(id, '/old', 204, 3)
  await add(id, '/unknown', null, 2)
  await add(id, '/refused', 404, 9)
  await add(other, '/theirs', 404, 4)
  await sweepActivity(shop.db, { all: 10, refused: 4 })
  assert.deepEqual(await kept(id), [['/old', 3], ['/unknown', 2], ['/refused', 4]]) // oxfmt-ignore
  assert.deepEqual(await kept(other), [['/theirs', 4]])
  await add(id, '/new', 204, 2)
  await sweepActivity(shop.db, { all: 10, refused: 4 })
  assert.deepEqual(await kept(id), [['/old', 2], ['/unknown', 2], ['/refused', 4], ['/new', 2]]) // oxfmt-ignore
})

test('the first proof of a mailbox ends the keys that another person has made before', async () => {
  const [shop] = pair()
  const email = newMailbox()
  const ann = newBrowser(shop)
  await ann.signInByCode(email)
  const { secret } = await makeKey(ann, ['orders:read'], { expiresAt: null })
  await sql`update sellers set email_proven_at = null where email = ${email}`.execute(shop.db)
  await newBrowser(shop).signInByCode(email)
  assertProblem(await programWith(shop, secret).call('GET', '/api/orders'), 401, 'invalid_key')
})

test('a key of a disabled seller opens nothing, and of a suspended one what a session opens', async () => {
  const [shop] = pair()
  const email = newMailbox()
  const ann = newBrowser(shop)
  await ann.signInByCode(email)
  const program = programWith(shop, (await makeKey(ann, ['orders:read', 'keys:write'])).secret)
  await sql`update sellers set suspended_at = now() where email = ${email}`.execute(shop.db)
  assert.equal((await program.call('GET', '/api/orders')).status, 200)
  await sql`update sellers set disabled_at = now() where email = ${email}`.execute(shop.db)
  assertProblem(await program.call('GET', '/api/orders'), 401, 'invalid_key')
  assertProblem(await program.call('POST', '/api/keys', { name: 'x', scopes: ['orders:read'] }), 401, 'invalid_key')
})
