import { sql } from 'kysely'
import { recordEvent } from '../events/record.ts'
import { type Db, type Tx, inTransaction } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { digestOf } from '../kit/idempotency.ts'
import { wrongField } from '../kit/moment.ts'
import { checkedFields, refuseSuggestion } from './fields.ts'
import { fitFurtherPrices, saveFurtherPrices, splitPrices } from './prices.ts'
import { PRODUCT_COLUMNS, type ProductRow, findProduct } from './find.ts'
import { hasFiles } from './off-sale.ts'
import { createProduct, refuseTooManyProducts } from './products.ts'
import type { NewProductBody, ProductChange } from './schema.ts'

/** The largest value of the column. */
const LARGEST_VERSION = 2 ** 31 - 1

/**
 * Makes a seller's product as a draft. With an idempotency key the same request gives the same product, as it is by then. Refuses
 * `validation_failed`, `too_many_products`, `idempotency_key_reused`, and `product_has_no_files` if it should be active at once.
 */
export async function makeProduct(
  db: Db,
  {
    sellerId,
    statementPrefix,
    idempotencyKey,
  }: { sellerId: string; statementPrefix: string; idempotencyKey: string | undefined },
  body: NewProductBody,
): Promise<ProductRow> {
  const fields = splitPrices(checkedFields(body, statementPrefix))
  const { name, description = '', amount, currency, further, status = 'draft', ...rest } = fields
  if (amount === undefined || currency === undefined)
    throw wrongField(amount === undefined ? 'amount' : 'currency', 'is required: send amount and currency, or prices')
  if (status === 'active') refuseWithoutFiles()
  return inTransaction(db, async (tx) => {
    const { id, isRepeat } = await createProduct(tx, {
      sellerId,
      name,
      description,
      priceMinor: amount,
      currency,
      status,
      payWhatYouWant: rest.payWhatYouWant,
      suggestedMinor: rest.suggestedAmount ?? undefined,
      statementSuffix: rest.statementSuffix,
      idempotency:
        idempotencyKey === undefined
          ? undefined
          : { key: digestOf([sellerId, idempotencyKey]), request: digestOf([inOneOrder(body)]) },
    })
    if (isRepeat) return findProduct(tx, sellerId, id)
    await refuseTooManyProducts(tx, sellerId)
    if (further?.length) {
      await saveFurtherPrices(tx, id, further)
      await fitFurtherPrices(tx, id, true)
    }
    return findProduct(tx, sellerId, id)
  }).catch(refuseSuggestion)
}

/** The members of a body and of all that is in it, sorted by their names: a program can send them in another order. */
function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return members.map(([name, member]) => [name, inOneOrder(member)])
}

/**
 * Changes the fields in `body` and leaves the rest. With `versions`, it changes the product only if it still has one of these versions,
 * so an edit never overwrites a newer change. Only a product with files can become active. Refuses `product_not_found`,
 * `changed_meanwhile`, `product_has_no_files`, `validation_failed`.
 */
export async function changeProduct(
  db: Db,
  {
    sellerId,
    productId,
    versions,
    statementPrefix,
  }: { sellerId: string; productId: string; versions: number[] | undefined; statementPrefix: string },
  body: ProductChange,
): Promise<ProductRow> {
  const sent = splitPrices(checkedFields(body, statementPrefix))
  const isOther = (version: number) => versions !== undefined && !versions.includes(version)
  if (Object.values(sent).every((member) => member === undefined)) {
    const product = await findProduct(db, sellerId, productId)
    return isOther(product.version) ? refuseChanged() : product
  }
  // when `payWhatYouWant` is switched off, the suggested amount is removed, unless the body has one
  const publishes = sent.status === 'active'
  const setsPrices = [sent.amount, sent.currency, sent.payWhatYouWant, sent.further].some((one) => one !== undefined)
  const { rows } = await inTransaction(db, async (tx) => {
    // the lock comes first, so that the update sees a simultaneous removal of files
    const before = sent.status ? await lockedStatus(tx, productId) : undefined
    const changed = await sql<ProductRow>`
      with changed as (
        update products p set
          name = coalesce(${sent.name ?? null}::text, p.name),
          description = coalesce(${sent.description ?? null}::text, p.description),
          price_minor = coalesce(${sent.amount ?? null}::bigint, p.price_minor),
          currency = coalesce(${sent.currency ?? null}::text, p.currency),
          status = coalesce(${sent.status ?? null}::text, p.status),
          statement_suffix = coalesce(${sent.statementSuffix ?? null}::text, p.statement_suffix),
          pay_what_you_want = coalesce(${sent.payWhatYouWant ?? null}::boolean, p.pay_what_you_want),
          suggested_minor = case
            when ${sent.suggestedAmount !== undefined}::boolean then ${sent.suggestedAmount ?? null}::bigint
            when coalesce(${sent.payWhatYouWant ?? null}::boolean, p.pay_what_you_want) then p.suggested_minor end,
          off_sale_since = case when not ${publishes}::boolean then p.off_sale_since end,
          version = p.version + 1, updated_at = now()
        where p.id = ${productId} and p.seller_id = ${sellerId}
          and (${versions ?? null}::int[] is null or p.version = any(${versions ?? null}::int[]))
          and (not ${publishes}::boolean or ${hasFiles})
        returning p.*)
      select ${PRODUCT_COLUMNS} from changed p`.execute(tx)
    if (!changed.rows[0]) return changed
    if (setsPrices) {
      if (sent.further) await saveFurtherPrices(tx, productId, sent.further)
      await fitFurtherPrices(tx, productId, sent.further !== undefined)
    }
    if (sent.status !== before) await recordStatus(tx, { sellerId, productId }, sent.status)
    return setsPrices ? { rows: [await findProduct(tx, sellerId, productId)] } : changed
  }).catch(refuseSuggestion)
  if (rows[0]) return rows[0]
  const { version } = await findProduct(db, sellerId, productId)
  return isOther(version) ? refuseChanged() : refuseWithoutFiles()
}

/** Takes a product off sale until the seller makes it active again. A repeat changes nothing. Refuses `product_not_found`. */
export async function archiveProduct(db: Db, sellerId: string, productId: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { numAffectedRows } = await sql`
      update products set status = 'archived', version = version + 1, updated_at = now()
      where id = ${productId} and seller_id = ${sellerId} and status <> 'archived'`.execute(tx)
    if (numAffectedRows) await recordStatus(tx, { sellerId, productId }, 'archived')
    else await findProduct(tx, sellerId, productId)
  })
}

async function lockedStatus(tx: Tx, productId: string): Promise<ProductRow['status'] | undefined> {
  const { rows } = await sql<Pick<ProductRow, 'status'>>`
    select status from products where id = ${productId} for no key update`.execute(tx)
  return rows[0]?.status
}

/** Tells the seller's program of a product that is for sale from now on, or no longer. */
async function recordStatus(
  tx: Tx,
  { sellerId, productId }: { sellerId: string; productId: string },
  status: ProductRow['status'] | undefined,
): Promise<void> {
  const type = status === 'active' ? 'product.published' : status === 'archived' && 'product.archived'
  if (type)
    await recordEvent(tx, { sellerId, type }, sql`select ${PRODUCT_COLUMNS} from products p where p.id = ${productId}`)
}

export const etagOf = ({ version }: ProductRow): string => `"${version}"`

/** The versions that an If-Match names. Undefined: any version. An ETag counts also when a proxy has marked it as weak. */
export function versionsOf(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  return [...ifMatch.matchAll(/"(\d{1,10})"/g)]
    .map(([, version]) => Number(version))
    .filter((one) => one <= LARGEST_VERSION)
}

function refuseWithoutFiles(): never {
  throw new Refusal('product_has_no_files', 'Add a file first: a buyer of a product without files gets nothing.')
}

function refuseChanged(): never {
  throw new Refusal(
    'changed_meanwhile',
    'Somebody, or you in another window, has changed this product since you read it. Nothing was saved.',
  )
}
