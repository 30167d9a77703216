import { sql } from 'kysely'
import { Readable } from 'node:stream'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { createDiscount } from '../orders/discounts/discounts.ts'
import { addFile, createProduct } from '../products/products.ts'
import { ensureSeller } from '../sellers/sellers.ts'
import { pdf } from './demo-pdf.ts'

const SELLER = { name: 'Ann’s Field Notes', email: 'ann@demo.example', trusted: true }

/** The product in rupees offers all seven rails. The others show other kinds of prices. */
const PRODUCTS = [
  {
    label: 'buy the demo',
    name: 'The Quiet Shop',
    description:
      'A short field guide to selling what you make: how to set a price, how to write a page that answers before it is asked, and how to keep a promise. 3 files, yours to keep.',
    priceMinor: 49_900,
    currency: 'INR',
  },
  {
    label: 'in dollars',
    name: 'The Quiet Shop, in dollars',
    description: 'The same field guide, priced in dollars.',
    priceMinor: 1_900,
    currency: 'USD',
  },
  {
    label: 'for free',
    name: 'The Quiet Shop, a sample',
    description: 'The same field guide again. It costs nothing: an e-mail address is enough.',
    priceMinor: 0,
    currency: 'USD',
  },
  {
    label: 'pay what you want',
    name: 'The Quiet Shop, your price',
    description: 'The same field guide once more, for any price from $1.00 on.',
    priceMinor: 100,
    payWhatYouWant: true,
    suggestedMinor: 700,
    currency: 'USD',
  },
]
/** A code with 20 % off the product in dollars. Only that product's page loads the field for a code. */
const CODE = { code: 'SPRING', percentOff: 20, for: 'in dollars' }

const CHAPTERS = `# The Quiet Shop

1. Say what it is in one sentence. If you need two, the first one was not finished.
2. The price on the page is the price that is taken.
3. Deliver at once, and again whenever they ask.
4. Write the refund mail before you need it.
5. Keep the books so that a stranger could read them.
`

export interface DemoProduct {
  id: string
  label: string
}

/** Makes a seller and products, so that a new service has something to buy. A repeat adds nothing. */
export async function ensureDemo(db: Db, storage: Storage, imageUrl: string): Promise<DemoProduct[]> {
  return inTransaction(db, async (tx) => {
    // the lock lets only one of several simultaneous starts make the demo
    await sql`select pg_advisory_xact_lock(hashtext('till demo'))`.execute(tx)
    return makeDemo(tx, storage, imageUrl)
  })
}

async function makeDemo(db: Tx, storage: Storage, imageUrl: string): Promise<DemoProduct[]> {
  const sellerId = await ensureSeller(db, SELLER)
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from products where seller_id = ${sellerId} order by id`.execute(db)
  const demo: DemoProduct[] = []
  for (const { label, ...product } of PRODUCTS) {
    const made = rows.find(({ name }) => name === product.name)
    const id = made?.id ?? (await createProduct(db, { ...product, sellerId, status: 'active', imageUrl })).id
    if (!made) await addDemoFiles(db, storage, id)
    demo.push({ id, label })
  }
  const { rows: codes } = await sql`select from discounts where seller_id = ${sellerId} limit 1`.execute(db)
  const { code, percentOff, for: label } = CODE
  const productId = demo.find((one) => one.label === label)!.id
  if (codes.length === 0) await createDiscount(db, { code, percentOff, productId, sellerId })
  return demo
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
