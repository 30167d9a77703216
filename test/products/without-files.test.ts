import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kit/ids.ts'
import { type Tx, inTransaction } from '../../src/kit/database.ts'
import { recallFile } from '../../src/products/recall.ts'
import type { Browser } from '../support/seller.ts'
import { type Answer, assertProblem, eventually, sharedShop, startTestShop } from '../support/shop.ts'
import { type Uploader, newUploader } from '../support/uploads.ts'

const shop = sharedShop()
const BUYER = { email: 'bob@example.com' }
let uploader: Uploader
let ann: Browser
let sellerId: string
let email: string

// hooks of a whole file do not wait for each other
beforeEach(async () => {
  if (sellerId) return
  uploader = await newUploader(shop())
  ann = uploader.browser
  email = (await ann.session()).body.seller.email
  sellerId = uploader.sellerId
})

const product = (names: string[], fields: object = {}) =>
  shop().product({ sellerId, files: names.map((name) => ({ name, bytes: Buffer.from(newId('evt')) })), ...fields })
const read = async (id: string) => (await ann.call('GET', `/api/products/${id}`)).body
const buy = (productId: string) => shop().call('POST', '/api/checkout', { ...BUYER, productId })
const told = async (to = email) => (await shop().mails(to)).filter(({ subject }) => /off sale/.test(subject))
const matters = async () =>
  (await ann.call('GET', '/api/attention')).body.items.filter(({ what }: { what: string }) => what === 'no_files')

/** Runs the job of each minute. */
const minutePasses = () => shop().enqueueOffSaleMails()

async function assertNotForSale(id: string): Promise<void> {
  assertProblem(await buy(id), 404, 'product_not_found')
  assertProblem(await shop().call('GET', `/api/products/${id}/public`), 404, 'product_not_found')
}

test('a product without files is not published, at its making or later', async () => {
  const fields = { name: 'Nothing', amount: 1900, currency: 'USD' }
  assertProblem(await ann.call('POST', '/api/products', { ...fields, status: 'active' }), 409, 'product_has_no_files')
  const { body: draft } = await ann.call('POST', '/api/products', fields)
  const publish = () => ann.call('PATCH', `/api/products/${draft.id}`, { status: 'active', name: 'Something' })
  assertProblem(await publish(), 409, 'product_has_no_files')
  assert.deepEqual([(await read(draft.id)).status, (await read(draft.id)).name], ['draft', 'Nothing'])

  const added = await uploader.send('POST', `/api/products/${draft.id}/files?name=book.pdf`, Buffer.from('a book'))
  assert.equal(added.status, 201)
  assert.equal((await publish()).body.status, 'active')
  assert.equal((await buy(draft.id)).status, 201)
})

test('without its last file a product goes off sale, and its seller gets one mail', async () => {
  const id = await product(['one', 'two'], { name: 'Two files' })
  const { orderId } = await shop().paid({ productId: id })
  const [one, two] = (await read(id)).files
  const remove = (fileId: string) => ann.call('DELETE', `/api/products/${id}/files/${fileId}`)
  assert.equal((await remove(one.id)).status, 204)
  assert.equal((await read(id)).status, 'active')
  for (let time = 0; time < 2; time++) assert.equal((await remove(two.id)).status, 204)
  assert.equal((await read(id)).status, 'draft')
  await assertNotForSale(id)
  assert.equal((await shop().status(orderId, BUYER.email)).downloads.length, 2, 'its buyers keep it')
  assert(
    (await matters()).some(({ productId }: { productId: string }) => productId === id),
    'it is in “needs attention”',
  )

  await Promise.all([minutePasses(), minutePasses()])
  await minutePasses()
  const [mail] = await eventually(told, ({ length }) => length > 0)
  assert.match(mail!.text, /Two files/)
  assert.match(mail!.text, new RegExp(`/shop/#/products/${id}`))
  assert.equal((await told()).length, 1)
})

test('a seller whose product is back on sale within the minute gets no mail', async () => {
  const id = await product(['one'], { name: 'Soon back' })
  const [one] = (await read(id)).files
  await ann.call('DELETE', `/api/products/${id}/files/${one.id}`)
  await uploader.send('POST', `/api/products/${id}/files?name=two.pdf`, Buffer.from('two'))
  assert.equal((await ann.call('PATCH', `/api/products/${id}`, { status: 'active' })).status, 200)
  await minutePasses()
  assert.deepEqual(await matters().then((all) => all.filter(({ name }: { name: string }) => name === 'Soon back')), [])
  const { rows } = await sql`
    select from pgboss.job where name = 'product_mail' and data->>'productId' = ${id}`.execute(shop().db)
  assert.equal(rows.length, 0)
})

test('a recall of the last file takes every product off sale that had nothing else', async () => {
  const bytes = Buffer.from(newId('evt'))
  const bad = { name: 'bad.exe', bytes }
  const only = await shop().product({ sellerId, name: 'Only bad', files: [bad] })
  const mixed = await shop().product({ sellerId, files: [bad, { name: 'good.pdf', bytes: Buffer.from('good') }] })
  const order = (await buy(only)).body
  const [file] = (await read(only)).files
  await inTransaction(shop().db, (tx) => recallFile(tx, { fileId: file.id, reason: 'It holds a virus.' }))
  assert.equal((await read(only)).status, 'draft')
  await assertNotForSale(only)
  assert.equal((await read(mixed)).status, 'active')
  assertProblem(await ann.call('PATCH', `/api/products/${only}`, { status: 'active' }), 409, 'product_has_no_files')

  // the mail to a buyer who was about to pay does not say that files are ready
  const { clientSecret, orderId } = order
  await shop().confirm({ clientSecret })
  await shop().until(orderId, ({ paid }) => paid)
  const receipts = async () => (await shop().mails()).filter(({ text }) => text.includes(orderId))
  const [receipt] = await eventually(receipts, ({ length }) => length > 0)
  assert.doesNotMatch(receipt!.text, /files are ready|opens your files/)
})

test('two simultaneous removals leave nothing on sale, and no order of an empty product is made', async () => {
  for (let round = 0; round < 10; round++) {
    const id = await product(['one', 'two'])
    const files: { id: string }[] = (await read(id)).files
    const orders = [
      buy(id),
      ...files.map((file) => ann.call('DELETE', `/api/products/${id}/files/${file.id}`)),
      buy(id),
    ]
    const publish = ann.call('PATCH', `/api/products/${id}`, { status: 'active' })
    const answers = await Promise.all(orders)
    await publish
    assert.equal((await read(id)).status, 'draft')
    for (const { status, body } of answers)
      if (status === 201) {
        const { rows } = await sql`
          select f.id from orders o join files f on f.product_id = o.product_id and f.removed_at > o.created_at
          where o.id = ${body.orderId}`.execute(shop().db)
        assert(rows.length > 0, 'the order has a file')
      }
  }
})

for (const first of ['upload', 'recall'])
  test(`of an upload and a recall of the same bytes at once, the ${first} first, these bytes are not for sale`, async () => {
    const { db } = shop()
    const bytes = Buffer.from(newId('evt'))
    const sold = await shop().product({ sellerId, files: [{ name: 'sold', bytes }] })
    const other = await product(['other'])
    const [kept] = (await read(other)).files
    const [{ id: fileId }] = (await read(sold)).files
    const upload = () => uploader.send('POST', `/api/products/${other}/files?name=copy&replaces=${kept.id}`, bytes)
    const recall = (tx: Tx) => recallFile(tx, { fileId, reason: 'Not yours.' })
    const waiting = async () =>
      (
        await sql`
          select from pg_locks l join pg_database d on d.oid = l.database
          where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`.execute(db)
      ).rows.length
    let second: Promise<unknown> | undefined
    await inTransaction(db, async (tx) => {
      if (first === 'recall') await recall(tx)
      else
        await sql`
          insert into files (id, product_id, name, size_bytes, sha256, content_type)
          select ${newId('file')}, ${other}, 'copy', size_bytes, sha256, content_type from files where id = ${fileId}`.execute(
          tx,
        )
      second = first === 'recall' ? upload() : inTransaction(db, recall)
      await eventually(waiting, (count) => count === 1)
      if (first === 'upload') await sql`update files set removed_at = now() where id = ${kept.id}`.execute(tx)
    })
    await second
    await assertNotForSale(sold)
    const { rows } = await sql`
      select removed_at is null as open from files where product_id = ${other}`.execute(db)
    if (first === 'recall') {
      assertProblem((await second) as Answer, 403, 'file_withdrawn')
      // the upload is refused, so it has replaced nothing
      assert.deepEqual(rows, [{ open: true }])
      const { status, files } = await read(other)
      assert.deepEqual([status, files.length], ['active', 1])
      return
    }
    assert.equal((await read(other)).status, 'draft')
    await assertNotForSale(other)
    assert.deepEqual(rows, [{ open: false }, { open: false }])
  })

test('a product that an earlier version left on sale without files cannot be bought', async () => {
  const id = await product([], { name: 'From before' })
  await assertNotForSale(id)
  assert(
    (await matters()).some(({ productId }: { productId: string }) => productId === id),
    'its seller sees it',
  )
})

test('the upgrade finds out which products have files', async (t) => {
  const own = await startTestShop(t)
  const ids = {
    with: await own.product({}),
    without: await own.product({ files: [] }),
    recalled: await own.product({ files: [{ name: 'recalled', bytes: Buffer.from('recalled') }] }),
  }
  await sql`
    drop trigger files_changed on files; drop trigger files_recalled on files; drop trigger withdrawn_files_added on withdrawn_files;
    drop function set_has_files, remove_recalled_bytes, remove_recalled_files; alter table products drop column has_files;
    insert into withdrawn_files (seller_id, sha256, reason)
      select p.seller_id, f.sha256, 'Not theirs.' from files f join products p on p.id = f.product_id
      where p.id = '${sql.raw(ids.recalled)}'`.execute(own.db)
  const { readFile } = await import('node:fs/promises')
  await sql
    .raw(await readFile(new URL('../../schema/105_products_with_files.sql', import.meta.url), 'utf8'))
    .execute(own.db)
  const { rows } = await sql<{ id: string }>`select id from products where has_files`.execute(own.db)
  assert.deepEqual(rows, [{ id: ids.with }])
})

test('the upgrade takes products without files off sale and mails their sellers', async (t) => {
  const own = await startTestShop(t)
  const id = await own.product({ files: [], name: 'From before' })
  const kept = await own.product({})
  await sql`alter table products drop column off_sale_since, drop column off_sale_told_at`.execute(own.db)
  const { readFile } = await import('node:fs/promises')
  const file = new URL('../../schema/035_products_without_files.sql', import.meta.url)
  await sql.raw(await readFile(file, 'utf8')).execute(own.db)
  const { rows } = await sql<{ id: string; status: string }>`select id, status from products order by id`.execute(
    own.db,
  )
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.id, row.status])), { [id]: 'draft', [kept]: 'active' })
  await own.enqueueOffSaleMails()
  await eventually(
    async () => (await own.mails('ann@shop.test')).filter(({ text }) => text.includes('From before')).length,
    (count) => count === 1,
  )
})
