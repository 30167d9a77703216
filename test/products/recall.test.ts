import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { inTransaction } from '../../src/kit/database.ts'
import { newSigner } from '../../src/kit/signing.ts'
import { downloadToken } from '../../src/orders/downloads.ts'
import { waitForBank } from '../../src/orders/move.ts'
import { enqueueRecallMails } from '../../src/orders/recalled-files.ts'
import { recallAsOperator } from '../../src/operator/recall.ts'
import { recallFile } from '../../src/products/recall.ts'
import { openJobs } from '../support/jobs.ts'
import { liveCode } from '../support/buyer.ts'
import { type Browser, count, newBrowser, newMailbox } from '../support/seller.ts'
import { bareEnvironment } from '../support/service.ts'
import { SECRET, assertProblem, eventually, sharedShop, temporaryFolder } from '../support/shop.ts'
import { newUploader, sha256 } from '../support/uploads.ts'

const RECALL = path.join(import.meta.dirname, '../../scripts/recall.ts')
const NO_FILE = 'file_01kakd4m2n5p8q1r3s6t9v0w2x'
const shop = sharedShop()
let ann: Browser
let sellerId: string

// hooks of a whole file do not wait for each other
beforeEach(async () => {
  if (sellerId) return
  ann = newBrowser(shop())
  sellerId = (await ann.signInByCode()).body.seller.id
})

/** A product of Ann’s with these files. */
async function sold(names = ['bad.exe', 'good.pdf'], priceMinor = 0) {
  const files = names.map((name) => ({ name, bytes: Buffer.from(`${name} ${randomUUID()}`) }))
  const productId = await shop().product({ sellerId, name: 'Tools', priceMinor, files })
  const { body } = await ann.call('GET', `/api/products/${productId}`)
  return { productId, fileIds: body.files.map(({ id }: { id: string }) => id) as string[] }
}

const recall = (fileId: string, reason = 'It holds a virus.') =>
  inTransaction(shop().db, (tx) => recallFile(tx, { fileId, reason }))

const named = (files: { name: string }[]) => files.map(({ name }) => name)

const filesOf = async (orderId: string, email: string) => named((await shop().status(orderId, email)).downloads)

const told = async (email: string) => (await shop().mails(email)).filter(({ subject }) => /recalled/.test(subject))
const wasTold = (email: string) =>
  eventually(
    () => told(email),
    ({ length }) => length > 0,
  )

/** No mail is on its way any more. */
const allSent = () =>
  eventually(
    async () => (await sql`select from ${openJobs} as j where name = 'mail'`.execute(shop().db)).rows,
    ({ length }) => length === 0,
  )

test('a recalled file is gone at once for all its buyers, and the rest of the order stays', async () => {
  const { productId, fileIds } = await sold()
  const email = newMailbox()
  const { orderId } = await shop().checkout({ productId, email })
  const links = (await shop().status(orderId, email)).downloads.map(({ url }) => new URL(url).pathname)
  const reader = newBrowser(shop())
  await reader.call('POST', '/api/library/code', { email })
  await reader.call('POST', '/api/library/verify', { email, code: await liveCode(shop(), email, reader) })
  const shown = { ...(await shop().call('GET', `/api/products/${productId}/public`)).body }
  assert.equal((await shop().call('GET', links[0]!)).status, 200)

  const { recalledAt } = await recall(fileIds[0]!)

  for (const method of ['GET', 'HEAD']) assert.equal((await shop().call(method, links[0]!)).status, 403)
  for (const headers of [undefined, { range: 'bytes=1-' }]) {
    const answer = await shop().call('GET', links[0]!, undefined, headers)
    assertProblem(answer, 403, 'file_withdrawn')
    assert.match(answer.body.detail, /“It holds a virus\.”$/)
  }
  assert.equal((await shop().call('GET', links[1]!)).status, 200)
  const recalled = {
    id: fileIds[0],
    name: 'bad.exe',
    reason: 'It holds a virus.',
    withdrawnAt: recalledAt.toISOString(),
  }
  const status = await shop().status(orderId, email)
  const { items } = (await reader.call('GET', '/api/library')).body
  for (const order of [status, items[0]]) {
    assert.deepEqual(named(order.downloads), ['good.pdf'])
    assert.deepEqual(order.withdrawnFiles, [recalled])
  }
  assert.equal((await shop().status(orderId, newMailbox())).withdrawnFiles, undefined)
  const own = (await ann.call('GET', `/api/orders/${orderId}`)).body
  const product = (await ann.call('GET', `/api/products/${productId}`)).body
  for (const one of [own, product]) {
    assert.deepEqual(named(one.files), ['good.pdf'])
    assert.deepEqual(one.withdrawnFiles, [recalled])
  }
  assert.equal(product.status, 'active')
  assert.deepEqual((await shop().call('GET', `/api/products/${productId}/public`)).body, shown)
  const waiting = (await ann.call('GET', '/api/attention')).body.items
  const matter = waiting.find((one: { productId: string }) => one.productId === productId)
  assert.deepEqual([matter.what, matter.name], ['file_withdrawn', 'Tools'])
  // a later buyer does not get it, also not by a link made for it
  const late = newMailbox()
  const next = await shop().checkout({ productId, email: late })
  const later = await shop().status(next.orderId, late)
  assert.deepEqual([named(later.downloads), later.withdrawnFiles], [['good.pdf'], undefined])
  const token = downloadToken(newSigner([SECRET], 'download'), next.orderId, fileIds[0]!, new Date(Date.now() + 60_000))
  assertProblem(await shop().call('GET', `/api/downloads/${token}`), 403, 'download_not_available')
})

test('an order that is made while the recall waits for others is told of it too', async () => {
  const { productId, fileIds } = await sold()
  const email = newMailbox()
  const [held, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  // an order under way keeps the product as it is until it ends
  const underWay = inTransaction(shop().db, async (tx) => {
    await sql`select from products where id = ${productId} for key share`.execute(tx)
    held.resolve()
    await mayEnd.promise
  })
  await held.promise
  const recalled = recall(fileIds[0]!)
  await eventually(
    () => count(shop(), 'pg_stat_activity', sql`datname = current_database() and wait_event_type = 'Lock'`),
    Boolean,
  )
  const { orderId } = await shop().checkout({ productId, email })
  mayEnd.resolve()
  await Promise.all([underWay, recalled])
  const status = await shop().status(orderId, email)
  assert.deepEqual([named(status.downloads), named(status.withdrawnFiles!)], [['good.pdf'], ['bad.exe']])
  await shop().enqueueRecallMails()
  await wasTold(email)
})

test('an unpaid order that would deliver nothing any more can be paid no more; one with another file can', async () => {
  const [alone, both] = [await sold(['bad.exe'], 1900), await sold(['bad.exe', 'good.pdf'], 1900)]
  const orders = await Promise.all([alone, both].map(({ productId }) => shop().checkout({ productId })))
  for (const { fileIds } of [alone, both])
    for (let n = 0; n < 2; n++)
      await recallAsOperator(shop().db, 'op@example.com', { fileId: fileIds[0]!, reason: 'It holds a virus.' })
  await eventually(
    async () => {
      await shop().syncDue()
      return shop().status(orders[0]!.orderId)
    },
    ({ status }) => status === 'expired',
  )
  assertProblem(await shop().confirm(orders[0]!), 409, 'payment_closed')
  assert.equal((await shop().confirm(orders[1]!)).status, 200)
  await shop().until(orders[1]!.orderId, ({ paid }) => paid)
})

test('nothing gives such an order more time, also after its bank has said no, before the recall or after it', async () => {
  const { productId, fileIds } = await sold(['bad.exe'], 1900)
  const declined = await shop().checkout({ productId })
  await shop().confirm(declined, 'delayed_decline', 'bank_transfer')
  await eventually(
    () => shop().status(declined.orderId, 'bob@example.com', true),
    ({ status, canPay }) => status === 'processing' && canPay === true,
  )
  await recallAsOperator(shop().db, 'op@example.com', { fileId: fileIds[0]!, reason: 'It holds a virus.' })
  // as a voucher asks at each look
  await inTransaction(shop().db, (tx) => waitForBank(tx, [declined.orderId], 168))
  await eventually(
    async () => {
      await shop().syncDue()
      return shop().status(declined.orderId)
    },
    ({ status }) => status === 'expired',
  )
})

test('everybody who has paid for the file gets one mail, and no other person does', async () => {
  const { productId, fileIds } = await sold(['bad.exe', 'good.pdf'], 500)
  const [twice, repaid, unpaid, later, early, other] = Array.from({ length: 6 }, newMailbox) as [string, ...string[]]
  const back = await shop().checkout({ productId, email: repaid! })
  await shop().confirm(back)
  await eventually(
    async () => shop().status(back.orderId, repaid),
    ({ paid }) => paid,
  )
  await sql`update orders set state = 'charged_back' where id = ${back.orderId}`.execute(shop().db)
  const free = `update products set price_minor = 0 where id = '${productId}'`
  await sql.raw(free).execute(shop().db)
  // bought when it was there, and before it was taken off
  await shop().checkout({ productId, email: twice })
  const again = await shop().checkout({ productId, email: twice })
  await sql`update products set price_minor = 500 where id = ${productId}`.execute(shop().db)
  const pending = await shop().checkout({ productId, email: unpaid! })
  await ann.call('DELETE', `/api/products/${productId}/files/${fileIds[0]}`)
  await sql.raw(free).execute(shop().db)
  await shop().checkout({ productId, email: later! })
  const elsewhere = await sold()
  await shop().checkout({ productId: elsewhere.productId, email: other! })

  const reasons = ['It holds a virus.', 'Another reason.', 'A third.']
  const answers = await Promise.all(reasons.map((reason) => recall(fileIds[0]!, reason)))
  assert.equal(answers.filter(({ already }) => !already).length, 1)
  assert.equal(new Set(answers.map(({ reason }) => reason)).size, 1)
  await Promise.all([shop().enqueueRecallMails(), shop().enqueueRecallMails()])
  assert.equal((await recall(fileIds[0]!, 'Once more.')).already, true)
  await shop().enqueueRecallMails()
  // paid when it was gone: the rest is delivered, and the order says the rest
  assert.equal((await shop().confirm(pending)).status, 200)
  await eventually(
    async () => shop().status(pending.orderId, unpaid),
    ({ paid }) => paid,
  )
  const paid = await shop().status(pending.orderId, unpaid)
  assert.deepEqual([named(paid.downloads), named(paid.withdrawnFiles!)], [['good.pdf'], ['bad.exe']])
  await shop().enqueueRecallMails()

  for (const email of [twice, repaid!]) {
    const [mail] = await wasTold(email)
    // the seller of this test has only just signed up
    assert.equal(mail!.subject, 'A file was recalled')
    assert.match(mail!.text, /^bad\.\u200aexe of Tools, which you ordered from .+ was recalled/m)
    assert.equal(reasons.filter((reason) => mail!.text.includes(`“${reason}”`)).length, 1)
    assert.match(mail!.text, /do not open it/)
  }
  assert((await wasTold(twice))[0]!.text.includes(again.orderId), 'the newer order is the one that is named')
  await allSent()
  for (const [email, mails] of [
    [twice, 1],
    [repaid!, 1],
    [unpaid!, 0],
    [later!, 0],
    [early!, 0],
    [other!, 0],
  ] as const)
    // oxfmt-ignore
    assert.equal((await told(email)).length, mails)
})

test('every copy that its seller has is recalled, and no other seller’s copy', async () => {
  const bytes = Buffer.from(randomUUID())
  const files = [{ name: 'bad.exe', bytes }]
  const [first, second, others] = (await Promise.all(
    [{ sellerId }, { sellerId }, {}].map((of) => shop().product({ ...of, name: 'Tools', priceMinor: 0, files })),
  )) as [string, string, string]
  const [email, stranger] = [newMailbox(), newMailbox()]
  const mine = await shop().checkout({ productId: first, email })
  const copy = await shop().checkout({ productId: second, email })
  const other = await shop().checkout({ productId: others, email: stranger })
  const { files: own } = (await ann.call('GET', `/api/products/${first}`)).body

  const { elsewhere } = await recall(own[0].id)
  assert.deepEqual(
    elsewhere.map(({ productName }) => productName),
    ['Tools'],
  )
  for (const { orderId } of [mine, copy]) assert.deepEqual(await filesOf(orderId, email), [])
  assert.deepEqual(await filesOf(other.orderId, stranger), ['bad.exe'])
  // a copy that slips in is never sold
  const third = await shop().product({ sellerId, priceMinor: 0, files })
  await shop().file(third)
  const late = await shop().checkout({ productId: third, email })
  const status = await shop().status(late.orderId, email)
  assert.deepEqual([named(status.downloads), status.withdrawnFiles], [['book.pdf'], undefined])
  const product = (await ann.call('GET', `/api/products/${third}`)).body
  assert.deepEqual([named(product.files), named(product.withdrawnFiles)], [['book.pdf'], ['bad.exe']])
  assert.equal((await recall(elsewhere[0]!.fileId)).already, false)
  assert.deepEqual(await filesOf(other.orderId, stranger), [])
})

test('recalled bytes cannot be uploaded again, and buyers get the file that replaces them', async () => {
  const seller = await newUploader(shop())
  const email = newMailbox()
  await sql`update products set price_minor = 0 where id = ${seller.productId}`.execute(shop().db)
  const [bad, good] = [Buffer.from(randomUUID()), Buffer.from(randomUUID())] as [Buffer, Buffer]
  const put = (name: string, bytes: Buffer) =>
    seller.send('POST', `/api/products/${seller.productId}/files?name=${name}`, bytes)
  const first = await put('bad.exe', bad)
  const { orderId } = await shop().checkout({ productId: seller.productId, email })
  // replaced: the version bought is still the buyer’s, with the newer one
  await seller.send('POST', `/api/products/${seller.productId}/files?name=new.exe&replaces=${first.body.id}`, good)
  assert.deepEqual(await filesOf(orderId, email), ['bad.exe', 'new.exe'])
  await recall(first.body.id)
  assert.deepEqual(await filesOf(orderId, email), ['new.exe'])

  assertProblem(await put('other.exe', bad), 403, 'file_withdrawn')
  const begun = await seller.begin(bad.length, { sha256: sha256(bad) })
  assertProblem(await seller.patch(begun.headers.get('location')!, 0, bad), 403, 'file_withdrawn')
  const { rows } = await sql`select from uploads where seller_id = ${seller.sellerId} and state = 'open'`.execute(
    shop().db,
  )
  assert.equal(rows.length, 0)
  assert.equal((await put('clean.exe', Buffer.from(randomUUID()))).status, 201)
  assert.deepEqual(await filesOf(orderId, email), ['new.exe', 'clean.exe'])
})

test('a process that dies while it enqueues the mails leaves all of them to the next round, each once', async () => {
  const { productId, fileIds } = await sold()
  const emails = [newMailbox(), newMailbox()]
  for (const email of emails) await shop().checkout({ productId, email })
  await recall(fileIds[0]!)
  const dying = { add: () => Promise.reject(new Error('died')) }
  await assert.rejects(enqueueRecallMails(shop().db, dying as never), /died/)
  await Promise.all([shop().enqueueRecallMails(), shop().enqueueRecallMails()])
  for (const email of emails) await wasTold(email)
  await allSent()
  for (const email of emails) assert.equal((await told(email)).length, 1)
})

test('a reason is one line of text, whatever stands in it', async () => {
  const { productId, fileIds } = await sold()
  const email = newMailbox()
  const { orderId } = await shop().checkout({ productId, email })
  const direction = String.fromCodePoint(0x202e)
  for (const reason of ['', '   ', 'x'.repeat(501), 'a\nb', 'a\r\nBcc: b', 'a\0', direction])
    await assert.rejects(recall(fileIds[0]!, reason), { code: 'validation_failed' })
  assert.equal((await filesOf(orderId, email)).length, 2)
  const reason = `<script>alert(1)</script><a href="https://evil.test">'"; drop table files; -- 💥${'x'.repeat(400)}`
  await recall(fileIds[0]!, reason)
  await shop().enqueueRecallMails()
  const [mail] = await wasTold(email)
  assert(mail!.text.includes(reason))
  assert.doesNotMatch(mail!.html, /<script|evil\.test"|href="https:\/\/evil/)
  assert.match(mail!.html, /&lt;script&gt;alert\(1\)&lt;\/script&gt;&lt;a href=&quot;/)
})

test('an operator recalls any file by a command, which prints the result', async (t) => {
  const { productId, fileIds } = await sold()
  const email = newMailbox()
  const { orderId } = await shop().checkout({ productId, email })
  const env = {
    ...bareEnvironment(),
    DATABASE_URL: shop().databaseUrl,
    SECRET,
    DATA_DIR: await temporaryFolder(t),
  }
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [RECALL, ...args], { env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
    const status = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
    return { status, output }
  }
  const wrong = await Promise.all([run(NO_FILE, 'x'), run(fileIds[0]!, ' '), run(fileIds[0]!), run('--all', 'x')])
  assert.deepEqual(
    wrong.map(({ status }) => status),
    [1, 2, 2, 2],
  )
  for (const [at, said] of [
    /^There is no such file\.$/m,
    /must have 1 to 500/,
    /^npm run recall/,
    /^npm run/m,
  ].entries())
    assert.match(wrong[at]!.output, said)
  assert.equal((await filesOf(orderId, email)).length, 2)

  const first = await run(fileIds[0]!, 'It holds a virus.')
  assert.deepEqual([first.status, first.output.startsWith('Recalled: bad.exe of Tools')], [0, true], first.output)
  assert.deepEqual(await filesOf(orderId, email), ['good.pdf'])
  const second = await run(fileIds[0]!, 'Something else.')
  assert.equal(second.status, 0)
  assert.match(
    second.output,
    /^Already recalled at 20.+: bad\.exe of Tools\. The reason for buyers: It holds a virus\.$/m,
  )
  await shop().enqueueRecallMails()
  await wasTold(email)
  await allSent()
  assert.equal((await told(email)).length, 1)
})
