import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { count } from './seller.ts'
import { type S3Server, startS3Server } from './s3-server.ts'
import { type TestShop, assertProblem, newDatabase, startTestShop } from './shop.ts'
import { newUploader, sha256 } from './uploads.ts'

for (const kind of ['disk', 's3']) {
  describe(`on ${kind}`, () => {
    const ends: (() => unknown)[] = []
    let shop!: TestShop
    let s3: S3Server | undefined
    before(async () => {
      const later = { after: (end: () => unknown) => ends.push(end) }
      s3 = kind === 's3' ? await startS3Server(later) : undefined
      shop = await startTestShop(later, { env: { ...s3?.env } })
    })
    after(async () => {
      for (const end of ends.reverse()) await end()
    })

    test('a file sent in one request', async () => {
      const ann = await newUploader(shop)
      const bytes = randomBytes(100_000)
      const answer = await ann.send('POST', `/api/products/${ann.productId}/files?name=b%C3%BCch.pdf`, bytes)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      assert.deepEqual([answer.body.name, answer.body.size, answer.body.sha256], ['büch.pdf', 100_000, sha256(bytes)])
      console.log(answer.body)
    })
    test('a file sent in pieces', async () => {
      const ann = await newUploader(shop)
      const bytes = randomBytes(20_000_000)
      const begun = await ann.begin(bytes.length)
      assert.equal(begun.status, 201, JSON.stringify(begun.body))
      console.log(begun.headers)
      const at = begun.headers.get('location')!
      let a = await ann.patch(at, 0, bytes.subarray(0, 11_000_000))
      console.log(s3?.asked, s3?.refused)
      console.log(a.status, a.body, a.headers)
      a = await ann.head(at)
      console.log(a.status, a.body, a.headers)
      a = await ann.patch(at, 11_000_000, bytes.subarray(11_000_000))
      console.log(a.status, a.body, a.headers)
      a = await ann.head(at)
      console.log(a.status, a.body, a.headers)
      console.log(s3?.refused, s3?.objects.keys(), s3?.asked)
      void [count, sql, newDatabase, assertProblem]
    })
  })
}
