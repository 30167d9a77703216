import { type RawBuilder, sql } from 'kysely'
import { type Tx, changeTogether } from '../../kit/database.ts'
import type { Jobs } from '../../kit/jobs.ts'
import { asksConsent } from '../../sellers/brand.ts'
import { consentRows, isComplete, keptConsents } from '../consents/consents.ts'
import { isForSale } from '../../products/off-sale.ts'
import { keptTaxIds } from '../../taxes/buyer-tax-ids.ts'
import { keptEvidence } from '../../taxes/evidence.ts'
import { taxMinorOf, taxOnSale } from '../../taxes/sale-tax.ts'
import { type CreatedOrder, type OrderRow, moreColumn, taxOfOrder } from '../new-order.ts'
import { type AccountRule, pinnedAccount } from '../connected-account.ts'
import { type FreeMailLimits, countFreeMails, recordHeldReceipts } from '../free-mails.ts'
import { HOLD_MINUTES, amountOffIn, appliesIn, discountMinorOf, isOpenDiscount } from './uses.ts'
import { inTimelines, moveOrders } from '../move.ts'
import { recordSales } from '../sale-mails.ts'

export interface OfferSettings extends AccountRule {
  ttlHours: number
  firstLookSeconds: number
  /** Limits for mailed receipts of free orders. */
  freeMail: FreeMailLimits
}

type NoTax = 'country_required' | 'country_unconfirmed' | 'tax_rate_missing' | 'amount_not_payable'
/** Why there is no order. `again`: a simultaneous request decides first. */
export type NoOrder =
  | 'discount_not_valid'
  | 'amount_too_small'
  | 'consent_required'
  | 'currency_not_offered'
  | NoTax
  | 'again'
  | undefined

type Priced = CreatedOrder & {
  createdAt: Date
  refusal: NoOrder | null
  isMade: boolean
  email: string
  sellerId: string
  isTrusted: boolean
  network: string | null
}

/**
 * Makes orders whose price differs from the product's: in another currency, chosen by the buyer, reduced by a code, with tax, or free.
 * The statement that makes the order also reads and applies price, minimum, code and tax. This transaction marks a free order as paid.
 * Returns results in the order of `rows`; an entry is undefined where the product is not for sale or the key was used before.
 */
export async function insertOffers(
  tx: Tx,
  jobs: Jobs,
  settings: OfferSettings,
  rows: readonly OrderRow[],
): Promise<(CreatedOrder | NoOrder)[]> {
  const keys = new Set<string>()
  const chosen = rows.filter(({ keyHash }) => {
    const key = keyHash?.toString('hex')
    if (key === undefined) return true
    const isFirst = !keys.has(key)
    keys.add(key)
    return isFirst
  })
  const priced = await insertPriced(tx, settings, chosen)
  await payFree(
    tx,
    jobs,
    settings.freeMail,
    priced.filter(({ isMade, amountMinor }) => isMade && amountMinor === 0),
  )
  const byId = new Map(priced.map((one) => [one.id, one]))
  // a row that lost its key to another round was counted, and may have pushed another order of this round over the code's limit
  const isMiscounted = priced.some(({ isMade, refusal }) => !isMade && refusal === null)
  return rows.map((row) => {
    if (!chosen.includes(row)) return 'again'
    const one = byId.get(row.id)
    if (!one?.isMade)
      return isMiscounted && one?.refusal === 'discount_not_valid' ? 'again' : (one?.refusal ?? undefined)
    return one.amountMinor === 0 ? { ...one, state: 'paid' } : one
  })
}

/**
 * The statement locks the codes, by their ids, before it reads their uses, so simultaneous buyers never use a code more often than
 * its limit allows. If several rows have the same code, the first rows get it, of those that nothing else refuses. An order of a free
 * product takes no use of a code: otherwise anybody could use the code up.
 */
async function insertPriced(tx: Tx, settings: OfferSettings, rows: readonly OrderRow[]): Promise<Priced[]> {
  const column = <K extends keyof OrderRow>(name: K) => rows.map((row) => row[name] ?? null)
  const { account, line } = pinnedAccount(settings, { seller: sql`j.seller_id`, suffix: sql`j.statement_suffix` })
  const found = await sql<Priced>`
    with wanted as materialized (
      select i.id, i.email, i.key, i.hash, i.more, i.code, i.place, i.network, s.trusted_at is not null as is_trusted, ${asksConsent} and not i.agreed as lacks_consent, p.id as product_id, p.seller_id, p.name, price.currency, p.statement_suffix,
        price.least_minor, d.id as discount_id, ${amountOffIn(sql`price.currency`)} as amount_off_minor,
        case when p.pay_what_you_want then coalesce(i.chosen, price.least_minor) else price.least_minor end as list_minor,
        i.declared, i.seen, i.is_confirmed, i.buyer_tax_id, x.is_inclusive, x.treatment, x.country as tax_country, x.rate
      from unnest(
        ${column('id')}::text[], ${column('productId')}::text[], ${column('email')}::text[], ${column('keyHash')}::bytea[],
        ${column('requestHash')}::bytea[], ${column('chosenMinor')}::bigint[], ${column('discountCode')}::text[],
        ${column('network')}::text[], ${column('plainKeyHash')}::bytea[], ${column('currency')}::text[], ${moreColumn(rows)}::jsonb[],
        ${rows.map(({ consents }) => isComplete(consents))}::boolean[], ${rows.map(({ place }) => place?.declared ?? null)}::text[],
        ${rows.map(({ place }) => place?.seen ?? null)}::text[], ${rows.map(({ place }) => place?.isConfirmed ?? false)}::boolean[],
        ${rows.map(({ buyerTaxId }) => (buyerTaxId ? JSON.stringify(buyerTaxId) : null))}::jsonb[])
        with ordinality as i(id, product_id, email, key, hash, chosen, code, network, plain_key, currency, more, agreed, declared, seen, is_confirmed, buyer_tax_id, place)
      join products p on p.id = i.product_id and ${isForSale}
      join sellers s on s.id = p.seller_id
      left join lateral (${PRICE}) price on true
      left join discounts d on d.seller_id = p.seller_id and upper(d.code) = i.code and d.removed_at is null
        and coalesce(d.product_id, p.id) = p.id and ${appliesIn(sql`price.currency`)}
      left join lateral (${taxOnSale({ seller: sql`s.id`, buyer: sql`coalesce(i.declared, i.seen)`, isBusiness: sql`coalesce(i.buyer_tax_id->>'verdict' = 'valid', false)` })}) x on s.charges_tax
      where not exists (select from orders o where o.idempotency_key = i.key)
        and not exists (select from orders o where o.idempotency_key = i.plain_key and o.request_hash = i.hash)
      for key share of p),
    locked as materialized (
      select d.id, d.percent_off, d.uses, d.most_uses, ${isOpenDiscount} as is_open from discounts d
      where d.id in (select discount_id from wanted where list_minor > 0) order by d.id for no key update),
    judged as (
      select w.*, l.id as used_id, l.uses, l.most_uses, l.most_uses is not null as has_limit,
        least(make_interval(hours => ${settings.ttlHours}), case when l.most_uses is not null then make_interval(mins => ${HOLD_MINUTES}) end) as life,
        case when l.id is null then 0 else ${discountMinorOf(sql`w.list_minor`, { percent: sql`l.percent_off`, amountMinor: sql`w.amount_off_minor` }, sql`w.currency`)} end as discount_minor,
        case when w.currency is null then 'currency_not_offered'
          when w.list_minor < w.least_minor then 'amount_too_small'
          when w.list_minor > 0 and w.lacks_consent then 'consent_required'
          when w.code is null or w.list_minor = 0 then null
          when l.id is null or not l.is_open or l.uses >= l.most_uses then 'discount_not_valid' end as refusal
      from wanted w left join locked l on l.id = w.discount_id and w.list_minor > 0),
    taxed as (
      select w.*, coalesce(w.refusal, t.refusal) as other_refusal, t.tax_minor,
        w.list_minor - w.discount_minor + case when w.is_inclusive then 0 else coalesce(t.tax_minor, 0) end as amount_minor
      from judged w cross join lateral (${TAX_OF_PRICE}) t),
    counted as (select t.*, ${WHY_NONE} as no_order from taxed t),
    made as (
      insert into orders (id, product_id, seller_id, email, product_name, amount_minor, currency, fee_minor, statement_descriptor,
        expires_at, due_at, idempotency_key, request_hash, discount_minor, discount_id, holds_discount,
        client_reference_id, metadata, success_url, cancel_url, connected_account, locale, tax_minor, tax_rate, tax_country, tax_treatment)
      select id, product_id, seller_id, email, name, amount_minor, currency, fee_of(amount_minor),
        ${line},
        now() + life, now() + least(life, make_interval(secs => ${settings.firstLookSeconds})), key, hash,
        discount_minor, used_id, used_id is not null,
        more->>'clientReferenceId', more->'metadata', more->>'successUrl', more->>'cancelUrl', ${account}, more->>'locale',
        tax_minor, case when tax_minor is not null then rate end, case when tax_minor is not null then tax_country end,
        case when tax_minor is not null then treatment end
      from counted j where no_order is null
      on conflict (idempotency_key) where idempotency_key is not null do nothing
      returning id, amount_minor, currency, statement_descriptor, state, discount_minor, discount_id, created_at, fee_minor, connected_account, tax_minor, tax_rate, tax_country, tax_treatment),
    ${keptWithOrders(rows)}
    taken as (
      update discounts d set uses = d.uses + m.uses
      from (select discount_id, count(*)::integer as uses from made where discount_id is not null group by discount_id) as m
      where d.id = m.discount_id)
    select j.id, j.email, j.network, j.seller_id as "sellerId", j.is_trusted as "isTrusted", j.no_order as refusal, ${taxOfOrder(sql`m`, sql`j.buyer_tax_id`)} as tax, m.id is not null as "isMade", m.amount_minor as "amountMinor", m.currency,
      m.statement_descriptor as "statementDescriptor", m.state, m.discount_minor as "discountMinor", j.has_limit as "hasLimitedCode", m.fee_minor as "feeMinor", m.connected_account as "connectedAccount", m.created_at as "createdAt"
    from counted j left join made m on m.id = j.id`.execute(tx)
  return found.rows
}

/** The rows that belong to new orders: place evidence, and for a few orders tax ids and consents. */
function keptWithOrders(rows: readonly OrderRow[]): RawBuilder<unknown> {
  const consents = rows.flatMap(({ id, consents: given }) => consentRows(id, given))
  const hasTaxIds = rows.some(({ buyerTaxId }) => buyerTaxId)
  return sql`
    kept as (${keptEvidence(sql`made`, sql`wanted`)}),
    ${hasTaxIds ? sql`identified as (${keptTaxIds(sql`made`, sql`wanted`)}),` : sql``}
    ${consents.length > 0 ? sql`agreed as (${keptConsents(sql`made`, consents)}),` : sql``}`
}

/** The price of a product `p` in the currency that `i` wants: its default price, one of its further prices, or none. */
const PRICE = sql`
  select p.currency, p.price_minor as least_minor where coalesce(i.currency, p.currency) = p.currency
  union all
  select pp.currency, pp.price_minor from product_prices pp
  where pp.product_id = p.id and pp.currency = i.currency and pp.currency <> p.currency`

/** The tax of a price `w`, a null where there is none, and why it is not known. A free order has no tax. */
const TAX_OF_PRICE = sql`
  select case when p.is_taxed and w.rate is not null then ${taxMinorOf(sql`p.price_minor`, sql`w.rate`, sql`w.is_inclusive`, sql`w.currency`)} end as tax_minor,
    case
      when not p.is_taxed then null
      when w.treatment is null then 'country_required'
      when w.treatment <> 'exempt' and w.declared <> w.seen and not w.is_confirmed then 'country_unconfirmed'
      when w.rate is null then 'tax_rate_missing'
      -- with tax on top, which is less than the price, it may be more than an order can be
      when not w.is_inclusive and p.price_minor > 499999999999 then 'amount_not_payable' end as refusal
  from (select w.list_minor - w.discount_minor as price_minor,
    w.is_inclusive is not null and w.list_minor > w.discount_minor as is_taxed) p`

/** Why there is no order `t`. Only orders that nothing else refuses count towards the limit of a code. */
const WHY_NONE = sql`
  case when t.other_refusal is not null then t.other_refusal
    when t.uses + row_number() over (partition by t.used_id, t.other_refusal is null order by t.place) > t.most_uses
      then 'discount_not_valid' end`

/** Marks free orders as paid, with the same move, timeline entry and receipt as any other order. */
async function payFree(tx: Tx, jobs: Jobs, limits: FreeMailLimits, orders: readonly Priced[]): Promise<void> {
  if (orders.length === 0) return
  const mayBeSent = await countFreeMails(
    tx,
    orders.map(({ network, ...order }) => ({ ...order, network: network ?? undefined })),
    limits,
  )
  const [mailed, held] = [true, false].map((sent) => orders.filter((_, at) => mayBeSent[at] === sent))
  // Before the move, because its event shows the order with its receipt. The order's page has the files all the same, and the buyer can
  // ask there for the mail later.
  await recordHeldReceipts(
    tx,
    held!.map(({ id }) => id),
  )
  await moveOrders(
    tx,
    orders.map(({ id, createdAt }) => ({ orderId: id, move: 'pay', paidAt: createdAt.toISOString() })),
  )
  await changeTogether(tx, [
    inTimelines(orders.map(({ id }) => ({ orderId: id, what: 'paid' }))),
    recordSales(orders.map(({ id, sellerId }) => ({ orderId: id, sellerId, isFree: true }))),
  ])
  await jobs.add(
    tx,
    'mail',
    mailed!.map(({ id }) => ({ data: { orderId: id, kind: 'receipt', late: false } })),
  )
}
