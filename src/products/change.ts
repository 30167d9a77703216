import { sql } from 'kysely'
import { type Db, retryConflicts } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { checkedFields, refuseSuggestion } from './fields.ts'
import { PRODUCT_COLUMNS, type ProductRow, findProduct, refuseUnknown } from './find.ts'
import { createProduct } from './products.ts'
import type { NewProductBody, ProductChange } from './schema.ts'

/** The largest that the column holds: another version was never given. */
const LARGEST_VERSION = 2 ** 31 - 1

/** Makes a seller's product. Refuses `validation_failed`. */
export async function makeProduct(db: Db, sellerId: string, body: NewProductBody): Promise<ProductRow> {
  const { name, description = '', amount, currency, status = 'draft', ...rest } = checkedFields(body)
  const id = await createProduct(db, {
    sellerId,
    name,
    description,
    priceMinor: amount,
    currency,
    status,
    payWhatYouWant: rest.payWhatYouWant,
    suggestedMinor: rest.suggestedAmount ?? undefined,
    statementSuffix: rest.statementSuffix,
  }).catch(refuseSuggestion)
  return findProduct(db, sellerId, id)
}

/**
 * Changes what was sent and leaves the rest. With `versions` only while it is still one of them, so that who edits what
 * somebody has changed since overwrites nothing. Refuses `product_not_found`, `changed_meanwhile`, `validation_failed`.
 */
export async function changeProduct(
  db: Db,
  { sellerId, productId, versions }: { sellerId: string; productId: string; versions: number[] | undefined },
  body: ProductChange,
): Promise<ProductRow> {
  const sent = checkedFields(body)
  const isOther = (version: number) => versions !== undefined && !versions.includes(version)
  if (Object.values(sent).every((member) => member === undefined)) {
    const product = await findProduct(db, sellerId, productId)
    return isOther(product.version) ? refuseChanged() : product
  }
  // a suggestion ends with the choice, unless it is sent along
  const { rows } = await retryConflicts(() =>
    sql<ProductRow>`
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
          version = p.version + 1, updated_at = now()
        where p.id = ${productId} and p.seller_id = ${sellerId}
          and (${versions ?? null}::int[] is null or p.version = any(${versions ?? null}::int[]))
        returning p.*)
      select ${PRODUCT_COLUMNS} from changed p`.execute(db),
  ).catch(refuseSuggestion)
  if (rows[0]) return rows[0]
  await findProduct(db, sellerId, productId)
  return refuseChanged()
}

/** Takes a product off sale, for good or until it is made active again. Again is no error. Refuses `product_not_found`. */
export async function archiveProduct(db: Db, sellerId: string, productId: string): Promise<void> {
  const { rows } = await retryConflicts(() =>
    sql`
      with archived as (
        update products set status = 'archived', version = version + 1, updated_at = now()
        where id = ${productId} and seller_id = ${sellerId} and status <> 'archived')
      select id from products where id = ${productId} and seller_id = ${sellerId}`.execute(db),
  )
  if (!rows[0]) refuseUnknown()
}

/**
 * Takes a file off a product; who has bought it keeps it. Again is no error. Refuses `product_not_found`, `file_not_found`.
 */
export async function removeFile(db: Db, sellerId: string, productId: string, fileId: string): Promise<void> {
  const { rows } = await retryConflicts(() =>
    sql<{ fileId: string | null }>`
      with removed as (
        update files f set removed_at = now() from products p
        where f.id = ${fileId} and f.product_id = p.id and f.removed_at is null
          and p.id = ${productId} and p.seller_id = ${sellerId})
      select f.id as "fileId" from products p left join files f on f.product_id = p.id and f.id = ${fileId}
      where p.id = ${productId} and p.seller_id = ${sellerId}`.execute(db),
  )
  if (!rows[0]) refuseUnknown()
  if (rows[0].fileId === null) throw new Refusal('file_not_found', 'The product has no such file.')
}

export const etagOf = ({ version }: ProductRow): string => `"${version}"`

/** The versions that an If-Match names; undefined when any will do. What a proxy has marked as weak is ours all the same. */
export function versionsOf(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  return [...ifMatch.matchAll(/"(\d{1,10})"/g)]
    .map(([, version]) => Number(version))
    .filter((one) => one <= LARGEST_VERSION)
}

function refuseChanged(): never {
  throw new Refusal(
    'changed_meanwhile',
    'Somebody, or you in another window, has changed this product since you read it. Nothing was saved.',
  )
}
