import { sql } from 'kysely'
import { Readable } from 'node:stream'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { ensureSeller } from '../sellers/sellers.ts'
import { pdf } from './demo-pdf.ts'
import { addFile, createProduct } from './products.ts'

const SELLER = { name: 'Ann’s Field Notes', email: 'ann@demo.example' }

/** In rupees, so that every one of the seven rails can be tried; and in dollars. */
const PRODUCTS = [
  {
    name: 'The Quiet Shop',
    description:
      'A short field guide to selling what you make: how to set a price, how to write a page that answers before it is asked, and how to keep a promise. 3 files, yours to keep.',
    priceMinor: 49_900,
    currency: 'INR',
  },
  {
    name: 'The Quiet Shop, in dollars',
    description: 'The same field guide, priced in dollars.',
    priceMinor: 1_900,
    currency: 'USD',
  },
]

const CHAPTERS = `# The Quiet Shop

1. Say what it is in one sentence. If you need two, the first one was not finished.
2. The price on the page is the price that is taken.
3. Deliver at once, and again whenever they ask.
4. Write the refund mail before you need it.
5. Keep the books so that a stranger could read them.
`

/** A seller with something to buy at once, for a service that nobody has set up yet. Made once; returns the products' ids. */
export async function ensureDemo(db: Db, storage: Storage, imageUrl: string): Promise<string[]> {
  return inTransaction(db, async (tx) => {
    // of several starts at once one makes it
    await sql`select pg_advisory_xact_lock(hashtext('till demo'))`.execute(tx)
    return makeDemo(tx, storage, imageUrl)
  })
}

async function makeDemo(db: Tx, storage: Storage, imageUrl: string): Promise<string[]> {
  const sellerId = await ensureSeller(db, SELLER)
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from products where seller_id = ${sellerId} order by id`.execute(db)
  const ids: string[] = []
  for (const product of PRODUCTS) {
    const made = rows.find(({ name }) => name === product.name)
    const id = made?.id ?? (await createProduct(db, { ...product, sellerId, status: 'active', imageUrl }))
    if (!made) await addDemoFiles(db, storage, id)
    ids.push(id)
  }
  return ids
}

async function addDemoFiles(db: Db, storage: Storage, productId: string): Promise<void> {
  const files = [
    { name: 'The Quiet Shop.pdf', contentType: 'application/pdf', bytes: pdf(CHAPTERS.split('\n')) },
    { name: 'The Quiet Shop.md', contentType: 'text/markdown; charset=utf-8', bytes: Buffer.from(CHAPTERS) },
    {
      name: 'Prices that are right.csv',
      contentType: 'text/csv; charset=utf-8',
      bytes: Buffer.from('price,fee,you get\n19.00,0.38,18.62\n499.00,9.98,489.02\n'),
    },
  ]
  for (const { bytes, ...file } of files)
    await addFile(db, storage, productId, { ...file, bytes: Readable.from([bytes]) })
}
