import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { WriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import path from 'node:path'
import { type TestContext, after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import sharp from 'sharp'
import { openStorage } from '../../src/kit/storage/open.ts'
import { keptOpen, sweepUploads } from '../../src/products/uploads/uploads.ts'
import { type S3Server, startS3Server } from '../stand-ins/s3-server.ts'
import { atEnd } from '../support/ends.ts'
import { count } from '../support/seller.ts'
import { startService } from '../support/service.ts'
import {
  type Answer,
  type TestShop,
  assertProblem,
  eventually,
  startTestShop,
  temporaryFolder,
} from '../support/shop.ts'
import { type Uploader, newUploader, sha256 } from '../support/uploads.ts'

const HOUR_MS = 3_600_000
const MOST = 13_000_000
const QUOTA = 55_000_000
const ENV = { UPLOAD_MAX_BYTES: String(MOST), STORAGE_QUOTA_BYTES: String(QUOTA) }
const EMAIL = 'bob@example.com'

for (const kind of ['a disk', 'a bucket']) {
  describe(`files on ${kind}`, () => {
    const ends: (() => unknown)[] = []
    let shop!: TestShop
    let s3: S3Server | undefined
    let ann!: Uploader
    let bob!: Uploader
    before(async () => {
      const later = { after: (end: () => unknown) => ends.push(end) }
      s3 = kind === 'a bucket' ? await startS3Server(later) : undefined
      shop = await startTestShop(later, { env: { ...ENV, ...s3?.env } })
      ;[ann, bob] = await Promise.all([newUploader(shop), newUploader(shop)])
    })
    after(async () => {
      for (const end of ends.reverse()) await end()
      assert.deepEqual(s3?.refused ?? [], [], 'every request is signed as it must be')
    })

    /** All that the storage holds, begun or whole. */
    const held = async (): Promise<string[]> => {
      if (s3) return [...s3.objects.keys(), ...[...s3.unfinished.values()].map(({ key }) => `${key} begun`)].sort()
      const all = await fs.readdir(shop.config.storageDir, { recursive: true, withFileTypes: true })
      return all.flatMap((one) => (one.isFile() ? [one.name] : [])).sort()
    }
    const filesOf = async (productId: string) => {
      const { rows } = await sql<{ id: string; name: string; sha256: string; removed: boolean; type: string }>`
        select id, name, sha256, removed_at is not null as removed, content_type as type
        from files where product_id = ${productId} order by id`.execute(shop.db)
      return rows
    }
    const productOf = (uploader: Uploader) => shop.product({ sellerId: uploader.sellerId, files: [] })
    const post = (uploader: Uploader, query: string, bytes?: Buffer, headers?: Record<string, string | undefined>) =>
      uploader.send('POST', `/api/products/${query}`, bytes, headers)
    const begun = async (size: number, metadata: Record<string, string> = {}): Promise<string> => {
      const answer = await ann.begin(size, metadata)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      return answer.headers.get('location')!
    }
    const idOf = (address: string): string => address.split('/').at(-1)!

    test('clients without a session, other sellers and other sites are refused', async () => {
      const before = await held()
      const address = await begun(10)
      const there = await held()
      const tus = { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
      const refusals: [Uploader, Record<string, string | undefined>, number, string][] = [
        [ann, { cookie: undefined }, 401, 'not_signed_in'],
        [bob, {}, 404, 'upload_not_found'],
        [ann, { origin: 'https://evil.example' }, 403, 'origin_not_allowed'],
      ]
      for (const [who, headers, status, code] of refusals) {
        for (const method of ['PATCH', 'DELETE', 'HEAD']) {
          const answer = await who.send(method, address, method === 'PATCH' ? Buffer.alloc(10) : undefined, { ...tus, ...headers }) // oxfmt-ignore
          if (method !== 'HEAD') assertProblem(answer, status, code)
          // reading changes nothing, so no origin is needed
          else if (code !== 'origin_not_allowed') assert.equal(answer.status, status)
        }
        const plain = await post(who, `${ann.productId}/files?name=x`, Buffer.from('x'), headers)
        assertProblem(plain, status, code === 'upload_not_found' ? 'product_not_found' : code)
      }
      assertProblem(await bob.begin(10, { productId: ann.productId }), 404, 'product_not_found')
      assert.deepEqual(await held(), there)
      const own = (await bob.begin(10)).headers.get('location')!
      const behind = `${own}?/${idOf(address)}`
      assert.equal((await bob.patch(behind, 0, Buffer.from('evil'))).status, 204, 'an address is read in one way')
      assert.equal((await bob.head(own)).headers.get('upload-offset'), '4')
      assert.equal((await ann.head(address)).headers.get('upload-offset'), '0')
      assert.equal((await bob.send('DELETE', behind, undefined, { 'tus-resumable': '1.0.0' })).status, 204)
      assert.equal((await ann.head(address)).headers.get('upload-offset'), '0')
      const ended = await ann.send('DELETE', address, undefined, { 'tus-resumable': '1.0.0' })
      assert.equal(ended.status, 204)
      assert.equal((await ann.head(address)).status, 404)
      assert.deepEqual(await held(), before)
    })

    test('a wrong upload is refused, and nothing of it is left', async () => {
      const before = await held()
      const productId = await productOf(ann)
      const bytes = randomBytes(1000)
      const files = `${productId}/files`
      const wrong = sha256(Buffer.from('another file'))
      const plain: [number, string, Promise<Answer>][] = [
        [422, 'checksum_mismatch', post(ann, `${files}?name=x&sha256=${wrong}`, bytes)],
        [400, 'validation_failed', post(ann, `${files}?name=x&sha256=abc`, bytes)],
        [400, 'validation_failed', post(ann, `${files}?name=%20`, bytes)],
        [400, 'validation_failed', post(ann, `${files}?name=a%00b`, bytes)],
        [400, 'validation_failed', post(ann, `${files}?name=a%0d%0ab`, bytes)],
        [400, 'validation_failed', post(ann, `${files}?name=book%E2%80%AEfdp.exe`, bytes)],
        [400, 'validation_failed', post(ann, `${files}?name=${'n'.repeat(256)}`, bytes)],
        [400, 'validation_failed', post(ann, files, bytes)],
        [415, 'unsupported_media_type', post(ann, `${files}?name=x`, bytes, { 'content-encoding': 'gzip' })],
        [415, 'unsupported_media_type', post(ann, `${files}?name=x`, bytes, { 'content-type': 'multipart/form-data; boundary=x' })],
        [411, 'length_required', ann.send('POST', `/api/products/${files}?name=x`, new Blob(['x']).stream())],
        [413, 'file_too_large', post(ann, `${files}?name=x`, Buffer.alloc(MOST + 1))],
        [404, 'file_not_found', post(ann, `${files}?name=x&replaces=file_${'0'.repeat(26)}`, bytes)],
        [413, 'file_too_large', ann.begin(MOST + 1, { productId })],
        [400, 'validation_failed', ann.begin(10, { productId: 'x' })],
        [400, 'validation_failed', ann.begin(10, { filename: 'n'.repeat(256) })],
        [400, 'validation_failed', ann.begin(10, { filename: 'book\u202efdp.exe' })],
        [400, 'validation_failed', ann.begin(10, { sha256: 'x' })],
        [412, 'tus_version_unsupported', ann.send('POST', '/api/uploads', undefined, { 'upload-length': '1' })],
        [411, 'length_required', ann.send('POST', '/api/uploads', undefined, { 'tus-resumable': '1.0.0', 'upload-defer-length': '1' })],
        [400, 'bad_request', ann.send('POST', '/api/uploads', undefined, { 'tus-resumable': '1.0.0', 'upload-length': '-1' })],
      ] // oxfmt-ignore
      for (const [status, code, answer] of plain) assertProblem(await answer, status, code)

      const address = await begun(bytes.length, { productId, sha256: wrong })
      assertProblem(await ann.patch(address, 5, bytes.subarray(5)), 409, 'upload_offset_differs')
      assertProblem(await ann.patch(address, 0, Buffer.concat([bytes, bytes])), 413, 'file_too_large')
      assertProblem(await ann.patch(address, 0, bytes), 422, 'checksum_mismatch')
      assert.equal((await ann.head(address)).status, 404, 'its client begins again')
      assert.deepEqual(await filesOf(productId), [])
      assert.deepEqual(await held(), before)
      assert.equal(await count(shop, 'uploads', sql`product_id = ${productId}`), 0)
    })

    test('buyers get the uploaded bytes, as an attachment of the detected type', async () => {
      const pdf = Buffer.from(`%PDF-1.4\n${'a'.repeat(2000)}`)
      const html = Buffer.from('<!doctype html><script>alert(1)</script>')
      const svg = Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>')
      const productId = await productOf(ann)
      const sent = [
        ['../a "book".html', pdf, 'application/pdf'],
        ['page.pdf', html, 'application/octet-stream'],
        ['picture.png', svg, 'application/octet-stream'],
        ['nothing', Buffer.alloc(0), 'application/octet-stream'],
      ] as const
      for (const [name, bytes, type] of sent) {
        const query = new URLSearchParams({ name, sha256: sha256(bytes).toUpperCase() })
        const { status, body } = await post(ann, `${productId}/files?${query}`, bytes)
        assert.equal(status, 201, JSON.stringify(body))
        assert.deepEqual(
          [body.name, body.size, body.sha256, body.contentType],
          [name, bytes.length, sha256(bytes), type],
        )
      }
      const { orderId } = await shop.paid({ productId })
      const { downloads } = await shop.status(orderId, EMAIL)
      for (const [at, [name, bytes, type]] of sent.entries()) {
        assert.equal(downloads[at]!.name, name)
        const { pathname } = new URL(downloads[at]!.url)
        const response = await fetch(shop.url + pathname)
        assert.equal(response.status, 200)
        assert.equal(response.redirected, Boolean(s3))
        assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
        assert.equal(response.headers.get('content-type'), type)
        assert.match(
          response.headers.get('content-disposition')!,
          /^attachment; filename="[^"]*"; filename\*=UTF-8''[^ ]*$/,
        )
        const head = await fetch(shop.url + pathname, { method: 'HEAD' })
        assert.deepEqual([head.status, Number(head.headers.get('content-length'))], [200, bytes.length])
      }
    })

    test('an upload in pieces becomes one file when it is complete, after any interruption and whichever request ends it', async () => {
      const productId = await productOf(ann)
      const bytes = randomBytes(12_000_000)
      const address = await begun(bytes.length, { productId, sha256: sha256(bytes), filename: 'größer.bin' })
      assert.equal((await ann.patch(address, 0, bytes.subarray(0, 1_000_000))).status, 204)
      const broken = await ann.beginPatch(address, 1_000_000, bytes.subarray(1_000_000, 10_000_000), 11_000_000)
      broken.destroy()
      // the next request ends the dead connection
      const { headers } = await eventually(() => ann.head(address), ({ status }) => status === 200) // oxfmt-ignore
      const offset = Number(headers.get('upload-offset'))
      // of a bucket's last part, up to 5 MB can be lost, and must be sent again
      assert(offset >= (s3 ? 0 : 1_000_000) && offset <= 10_000_000, String(offset))
      assert.deepEqual(await filesOf(productId), [])

      // the row cannot be written in the moment when all is here
      await sql`alter table files add constraint broken check (name <> 'größer.bin') not valid`.execute(shop.db)
      const last = await ann.patch(address, offset, bytes.subarray(offset))
      assertProblem(last, 500, 'internal_error')
      await sql`alter table files drop constraint broken`.execute(shop.db)

      const finished = await Promise.all([ann.head(address), ann.head(address), ann.head(address)])
      for (const { status, headers } of finished) {
        assert.equal(status, 200)
        assert.deepEqual(
          [headers.get('till-file'), headers.get('upload-offset')],
          [idOf(address), String(bytes.length)],
        )
      }
      assert.equal((await ann.patch(address, bytes.length, Buffer.alloc(0))).headers.get('till-file'), idOf(address))
      assertProblem(await ann.patch(address, 0, bytes.subarray(0, 10)), 409, 'upload_finished')
      assertProblem(await ann.send('DELETE', address, undefined, { 'tus-resumable': '1.0.0' }), 409, 'upload_finished')
      const files = await filesOf(productId)
      assert.deepEqual(files.map(({ id, sha256: hash }) => [id, hash]), [[idOf(address), sha256(bytes)]]) // oxfmt-ignore
      assert.deepEqual((await held()).filter((key) => key.startsWith(idOf(address))), [idOf(address)]) // oxfmt-ignore
    })

    test('a newer file takes the older one’s place, and earlier buyers keep theirs', async () => {
      const productId = await productOf(ann)
      const { body: first } = await post(ann, `${productId}/files?name=first.txt`, Buffer.from('first'))
      const early = await shop.paid({ productId })
      const address = await begun(6, { productId, filename: 'second.txt', replaces: first.id })
      assert.deepEqual((await filesOf(productId)).map(({ removed }) => removed), [false]) // oxfmt-ignore
      assert.equal((await ann.patch(address, 0, Buffer.from('second'))).headers.get('till-file'), idOf(address))
      assert.deepEqual((await filesOf(productId)).map(({ name, removed }) => [name, removed]), [['first.txt', true], ['second.txt', false]]) // oxfmt-ignore
      const late = await shop.paid({ productId })
      const names = async (orderId: string) => (await shop.status(orderId, EMAIL)).downloads.map(({ name }) => name)
      assert.deepEqual(await names(early.orderId), ['first.txt', 'second.txt'])
      assert.deepEqual(await names(late.orderId), ['second.txt'])
    })

    test('another instance continues an upload, and takes it from a connection that hangs', async (t) => {
      const env = { ...ENV, ...(s3?.env ?? { STORAGE_URL: `file:${shop.config.storageDir}` }) }
      const other = await startTestShop(t, { databaseUrl: shop.databaseUrl, env })
      const there: Uploader['send'] = (method, address, ...more) =>
        ann.send(method, new URL(address, other.url).href, ...more)
      const bytes = randomBytes(1_000_000)
      const address = await begun(bytes.length)
      const hanging = await ann.beginPatch(address, 0, bytes.subarray(0, 400_000), bytes.length)
      atEnd(t, () => hanging.destroy())
      await eventually(() => count(shop, 'uploads', sql`id = ${idOf(address)} and lock_holder is not null`), Boolean)
      const headers = { 'tus-resumable': '1.0.0' }
      const head = await eventually(() => there('HEAD', address, undefined, headers), ({ status }) => status === 200) // oxfmt-ignore
      const offset = Number(head.headers.get('upload-offset'))
      const patched = await there('PATCH', address, bytes.subarray(offset), {
        ...headers,
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
      })
      assert.equal(patched.headers.get('till-file'), idOf(address), JSON.stringify(patched.body))
      assert.equal((await filesOf(ann.productId)).at(-1)!.sha256, sha256(bytes))
    })

    test('a seller’s quota is separate, and two simultaneous uploads do not both get the last of it', async () => {
      const carol = await newUploader(shop)
      for (let used = 0; used + MOST <= QUOTA; used += MOST) assert.equal((await carol.begin(MOST)).status, 201)
      const rest = QUOTA % MOST
      const answers = await Promise.all([carol.begin(rest), carol.begin(rest), carol.begin(rest)])
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 413, 413])
      assertProblem(await post(carol, `${carol.productId}/files?name=x`, Buffer.from('x')), 413, 'quota_exceeded')
      assert.equal((await post(bob, `${bob.productId}/files?name=x`, Buffer.from('x'))).status, 201)
    })

    test('of empty files too a product has no more than its answers can hold', async () => {
      const productId = await productOf(bob)
      await sql`
        insert into files (id, product_id, name, size_bytes, sha256, content_type, removed_at)
        select 'file_' || ${productId.slice(-23)} || lpad(n::text, 3, '0'), ${productId}, 'x', 0, repeat('0', 64), 'x', now()
        from generate_series(1, 498) n`.execute(shop.db)
      const answers = await Promise.all([1, 2, 3].map(() => bob.begin(1, { productId })))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 413])
      assertProblem(await post(bob, `${productId}/files?name=x`, Buffer.alloc(0)), 413, 'quota_exceeded')
    })

    test('a full storage says so, and no partial file remains', async (t) => {
      const productId = await productOf(bob)
      const before = await held()
      const address = (await bob.begin(1000, { productId })).headers.get('location')!
      const mend = await fill(t)
      assertProblem(await post(bob, `${productId}/files?name=x`, randomBytes(9_000_000)), 507, 'storage_full')
      assertProblem(await bob.patch(address, 0, randomBytes(1000)), 507, 'storage_full')
      if (s3) assertProblem(await bob.begin(1000, { productId }), 507, 'storage_full')
      mend()
      assert.deepEqual(await filesOf(productId), [])
      assert.equal((await bob.patch(address, 0, randomBytes(1000))).status, 204, 'and goes on once there is room')
      assert.deepEqual(await held(), [...before, idOf(address)].sort())
      assert.equal(await count(shop, 'uploads', sql`product_id = ${productId} and state <> 'finished'`), 0)
    })

    test('an unfinished upload is removed after a day, also from the storage, and a finished file stays', async () => {
      const before = await held()
      const address = await begun(6_000_000)
      assert.equal((await ann.patch(address, 0, randomBytes(5_500_000))).status, 204)
      const done = await begun(2)
      assert.equal((await ann.patch(done, 0, Buffer.from('ok'))).status, 204)
      const id = [idOf(address), idOf(done)]
      await sql`update uploads set expires_at = now() - interval '1 second' where id = any(${id})`.execute(shop.db)
      assert.equal((await ann.head(address)).status, 410)
      await sweepUploads(shop.db, await openStorage(shop.config))
      assert.deepEqual(await held(), [...before, idOf(done)].sort())
      for (const one of [address, done]) assert.equal((await ann.head(one)).status, 404)
      assert.equal((await filesOf(ann.productId)).at(-1)!.id, idOf(done))
    })

    test('each request with an upload gives it another day, however short the request is', async () => {
      const address = await begun(10)
      for (const [method, work] of Object.entries({
        PATCH: () => ann.patch(address, 0, randomBytes(5)),
        HEAD: () => ann.head(address),
      })) {
        await sql`update uploads set expires_at = now() + interval '1 hour' where id = ${idOf(address)}`.execute(
          shop.db,
        )
        const { headers } = await work()
        assert(Date.parse(headers.get('upload-expires')!) > Date.now() + 23 * HOUR_MS, method)
        assert(await opens(idOf(address), '23 hours'), method)
      }
    })

    test('an upload in one request stays open while its bytes come', async () => {
      const id = idOf(await begun(10))
      await sql`update uploads set expires_at = now() - interval '1 second' where id = ${id}`.execute(shop.db)
      const { promise: come, resolve } = Promise.withResolvers<string>()
      const work = keptOpen(shop.db, id, come, 10)
      await eventually(() => opens(id, '23 hours'), Boolean)
      await sweepUploads(shop.db, await openStorage(shop.config))
      resolve('all of them')
      assert.equal(await work, 'all of them')
      assert(await opens(id, '23 hours'))
    })

    test('a client that leaves while the service asks the database leaves nothing behind', async (t) => {
      const productId = await productOf(ann)
      const address = await begun(10)
      const tus = { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
      const posted = ['POST', `/api/products/${productId}/files?name=x`, {}] as const
      for (const [method, to, headers] of [posted, ['PATCH', address, tus] as const]) {
        // of ten bytes
        for (const sent of [5, 10]) {
          const came = nextRequest(t, to)
          const { request, response } = await shop.db.transaction().execute(async (tx) => {
            await sql`lock table sessions in access exclusive mode`.execute(tx)
            const client = await ann.beginRequest(method, to, Buffer.alloc(sent), { ...headers, 'content-length': 10 })
            const exchange = await came
            await eventually(waitingForSessions, Boolean)
            client.destroy()
            await eventually(async () => exchange.request.destroyed, Boolean)
            return exchange
          })
          await eventually(async () => response.writableEnded, Boolean)
          assert.equal(request.readableEnded, false)
          assert.equal(response.statusCode, 400)
        }
      }
      assert.equal(await count(shop, 'uploads', sql`product_id = ${productId}`), 0)
      assert.equal(await count(shop, 'uploads', sql`id = ${idOf(address)} and lock_holder is not null`), 0)
      assert.equal((await ann.patch(address, 0, Buffer.alloc(10))).headers.get('till-file'), idOf(address))
    })

    const waitingForSessions = async (): Promise<boolean> => {
      const { rows } = await sql`
        select from pg_locks where not granted and relation = 'sessions'::regclass
          and database = (select oid from pg_database where datname = current_database())`.execute(shop.db)
      return rows.length > 0
    }

    if (kind === 'a disk')
      test('in a folder that others can read, the uploaded files are for the service alone', async () => {
        await fs.chmod(shop.config.storageDir, 0o755)
        const id = idOf(await begun(10))
        const folder = path.join(shop.config.storageDir, id.slice(-2))
        for (const [file, mode] of [
          [folder, 0o700],
          [path.join(folder, id), 0o600],
          [path.join(folder, `${id}.json`), 0o600],
        ] as const)
          assert.equal((await fs.stat(file)).mode & 0o777, mode, file)
      })

    if (kind === 'a bucket')
      test('an upload whose last step failed in the bucket ends with the next request, and keeps all bytes', async () => {
        const bytes = randomBytes(12_000_000)
        const address = await begun(bytes.length)
        s3!.weather.unfinishable = true
        assertProblem(await ann.patch(address, 0, bytes), 503, 'storage_unavailable')
        s3!.weather.unfinishable = false
        const head = await ann.head(address)
        assert.deepEqual([head.status, head.headers.get('till-file')], [200, idOf(address)])
        const file = (await filesOf(ann.productId)).find(({ id }) => id === idOf(address))
        assert.equal(file?.sha256, sha256(bytes))
      })

    const opens = async (id: string, interval: string): Promise<boolean> => {
      const { rows } = await sql`
        select from uploads where id = ${id} and expires_at > now() + ${interval}::interval`.execute(shop.db)
      return rows.length > 0
    }

    async function fill(t: TestContext): Promise<() => void> {
      if (s3) {
        s3.weather.full = true
        return () => (s3!.weather.full = false)
      }
      const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' })
      const handle = await fs.open(path.join(shop.config.dataDir, 'any'), 'w')
      const proto = Object.getPrototypeOf(handle)
      await handle.close()
      const mocks = [
        t.mock.method(proto, 'write', async () => { throw full }),
        t.mock.method(WriteStream.prototype, '_write', (_chunk: unknown, _encoding: unknown, done: (error: Error) => void) => done(full)),
        t.mock.method(WriteStream.prototype, '_writev' as '_write', (_chunks: unknown, done: unknown) => (done as (error: Error) => void)(full)),
      ] // oxfmt-ignore
      return () => mocks.forEach((one) => one.mock.restore())
    }
  })
}

/** The next request for that address that a service in this process gets, with its response. */
function nextRequest(t: TestContext, address: string): Promise<{ request: IncomingMessage; response: ServerResponse }> {
  return new Promise((resolve) => {
    const see = (message: unknown) => {
      const exchange = message as { request: IncomingMessage; response: ServerResponse }
      if (exchange.request.url !== address) return
      unsubscribe('http.server.request.start', see)
      resolve(exchange)
    }
    subscribe('http.server.request.start', see)
    atEnd(t, () => unsubscribe('http.server.request.start', see))
  })
}

test('an upload outlives the service: bytes received before kill -9 are not sent again', async (t) => {
  const shop = await startTestShop(t)
  const ann = await newUploader(shop)
  const env = { DATABASE_URL: shop.databaseUrl, STORAGE_URL: `file:${shop.config.storageDir}` }
  const dataDir = await temporaryFolder(t)
  const service = await startService(t, dataDir, env)
  const bytes = randomBytes(3_000_000)
  const address = (await ann.begin(bytes.length, { sha256: sha256(bytes) })).headers.get('location')!
  const id = address.split('/').at(-1)!
  await ann.beginPatch(service.url + address, 0, bytes.subarray(0, 2_000_000), bytes.length)
  const file = path.join(shop.config.storageDir, id.slice(-2), id)
  await eventually(
    async () => (await fs.stat(file)).size,
    (size) => size === 2_000_000,
  )
  await service.kill()
  // a dead process holds its lock for a few seconds
  await sql`update uploads set locked_until = now() - interval '1 second' where id = ${id}`.execute(shop.db)
  const again = await startService(t, dataDir, env)
  const tus = { origin: again.url, 'tus-resumable': '1.0.0' }
  const { headers } = await ann.send('HEAD', again.url + address, undefined, tus)
  assert.equal(headers.get('upload-offset'), '2000000')
  const last = await ann.send('PATCH', again.url + address, bytes.subarray(2_000_000), {
    ...tus,
    'upload-offset': '2000000',
    'content-type': 'application/offset+octet-stream',
  })
  assert.equal(last.headers.get('till-file'), id, JSON.stringify(last.body))
})

test('an upload begins once the disk is back, and one that has begun keeps its bytes', async (t) => {
  const disk = path.join(await temporaryFolder(t), 'disk')
  const shop = await startTestShop(t, { env: { STORAGE_URL: `file:${path.join(disk, 'files')}` } })
  const ann = await newUploader(shop)
  await fs.rename(disk, `${disk}-away`)
  // a folder cannot be made below a file
  await fs.writeFile(disk, '')
  assertProblem(await ann.begin(2), 503, 'storage_unavailable')
  await fs.rm(disk)
  await fs.rename(`${disk}-away`, disk)
  const address = (await ann.begin(2)).headers.get('location')!
  assert.equal((await ann.patch(address, 0, Buffer.from('o'))).status, 204)

  await fs.rename(disk, `${disk}-away`)
  for (const instead of [
    () => fs.writeFile(disk, ''),
    // where a disk is not mounted
    () => fs.mkdir(path.join(disk, 'files'), { recursive: true }),
  ]) {
    await instead()
    assert.equal((await ann.head(address)).status, 503)
    assertProblem(await ann.patch(address, 1, Buffer.from('k')), 503, 'storage_unavailable')
    await fs.rm(disk, { recursive: true })
  }
  await fs.rename(`${disk}-away`, disk)
  assert.equal((await ann.patch(address, 1, Buffer.from('k'))).headers.get('till-file'), address.split('/').at(-1))
})

describe('on a disk that is nearly full', () => {
  const RESERVE = 1_000_000
  const ends: (() => unknown)[] = []
  let shop!: TestShop
  let ann!: Uploader
  before(async () => {
    const env = { STORAGE_RESERVE_BYTES: String(RESERVE) }
    shop = await startTestShop({ after: (end) => ends.push(end) }, { env })
    ann = await newUploader(shop)
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })

  const heldBytes = async (): Promise<number> => {
    const all = await fs.readdir(shop.config.storageDir, { recursive: true, withFileTypes: true })
    const files = all.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name))
    const sizes = await Promise.all(files.map(async (file) => (await fs.stat(file).catch(() => undefined))?.size ?? 0))
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  /** The free space of the disk without the files. The service reads it through `fs.statfs`. */
  async function diskOf(t: TestContext, freeBytes: number): Promise<(more: number) => void> {
    const before = await heldBytes()
    let free = freeBytes
    t.mock.method(fs, 'statfs', async () => ({ bsize: 1, bavail: free - ((await heldBytes()) - before) }))
    return (more) => (free += more)
  }
  const post = (bytes: Buffer) => ann.send('POST', `/api/products/${ann.productId}/files?name=x`, bytes)

  test('nothing begins that would take the reserve, in one request, in pieces, or as a picture', async (t) => {
    await diskOf(t, RESERVE + 1000)
    const before = await heldBytes()
    assertProblem(await post(randomBytes(1001)), 507, 'storage_full')
    assertProblem(await ann.begin(1001), 507, 'storage_full')
    assert.equal(await heldBytes(), before)
    assert.equal(await count(shop, 'uploads', sql`product_id = ${ann.productId}`), 0)
    assert.equal((await post(randomBytes(900))).status, 201)
    const picture = await sharp({ create: { width: 640, height: 640, channels: 3, background: '#aabbcc' } }).png().toBuffer() // oxfmt-ignore
    const address = `/api/products/${ann.productId}/image`
    const answer = await ann.send('PUT', address, picture, { 'content-type': 'image/png' })
    assertProblem(answer, 507, 'storage_full')
  })

  test('an upload stops at the disk’s reserve, and continues when there is room', async (t) => {
    const size = 3_000_000
    const addresses = await Promise.all([1, 2].map(async () => (await ann.begin(size)).headers.get('location')!))
    // both fitted when they began
    const free = await diskOf(t, RESERVE + size)
    const before = await heldBytes()
    const bytes = randomBytes(size)
    const answers = await Promise.all(addresses.map((address) => ann.patch(address, 0, bytes)))
    const refused = answers.filter(({ status }) => status !== 204)
    assert(refused.length > 0)
    for (const answer of refused) assertProblem(answer, 507, 'storage_full')
    // all writers together pass it by a piece each at the most
    assert((await heldBytes()) - before <= size + 2 * 1024 ** 2)
    free(10 * size)
    for (const address of addresses) {
      const { headers } = await ann.head(address)
      if (headers.get('till-file')) continue
      const offset = Number(headers.get('upload-offset'))
      const last = await ann.patch(address, offset, bytes.subarray(offset))
      assert.equal(last.headers.get('till-file'), address.split('/').at(-1), JSON.stringify(last.body))
    }
    const { rows } = await sql<{ sha256: string }>`
      select sha256 from files where product_id = ${ann.productId} and size_bytes = ${size}`.execute(shop.db)
    assert.deepEqual(rows.map((row) => row.sha256), [sha256(bytes), sha256(bytes)]) // oxfmt-ignore
  })

  test('a file in one request stops at the reserve too, and leaves nothing', async (t) => {
    const free = await diskOf(t, RESERVE + 3_000_000)
    const before = await heldBytes()
    const bytes = randomBytes(2_500_000)
    const slow = new ReadableStream({
      async pull(controller) {
        controller.enqueue(bytes.subarray(0, 1_000_000))
        // another program takes the rest of the disk meanwhile
        await eventually(heldBytes, (held) => held > before)
        free(-2_000_000)
        controller.enqueue(bytes.subarray(1_000_000))
        controller.close()
      },
    })
    const address = `/api/products/${ann.productId}/files?name=x`
    const answer = await ann.send('POST', address, slow, { 'content-length': String(bytes.length) })
    assertProblem(answer, 507, 'storage_full')
    assert.equal(await heldBytes(), before)
  })
})

test('a seller whom the operator does not trust has a small quota, for files and for pictures', async (t) => {
  const env = { STORAGE_QUOTA_BYTES: '50000000', STORAGE_QUOTA_UNTRUSTED_BYTES: '1000000' }
  const shop = await startTestShop(t, { env })
  const eve = await newUploader(shop)
  const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#aabbcc' } }).png().toBuffer() // oxfmt-ignore
  const illustrate = () =>
    eve.send('PUT', `/api/products/${eve.productId}/image`, picture, { 'content-type': 'image/png' })
  const post = (size: number) => eve.send('POST', `/api/products/${eve.productId}/files?name=x`, randomBytes(size))
  assert.equal((await eve.begin(600_000)).status, 201)
  const refused = await post(400_001)
  assertProblem(refused, 413, 'quota_exceeded')
  assert.equal(
    refused.body.detail,
    'This file has 0.5 MB, and 0.4 MB of your 1 MB are left. Unfinished uploads and removed files count too.',
  )
  assertProblem(await eve.begin(400_001), 413, 'quota_exceeded')
  assertProblem(await illustrate(), 413, 'quota_exceeded')
  await sql`update sellers set trusted_at = now() where id = ${eve.sellerId}`.execute(shop.db)
  assert.equal((await post(400_001)).status, 201)
  assert.equal((await illustrate()).status, 200)
})
