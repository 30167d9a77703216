import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { genericPlanArray } from '../kit/plans.ts'
import type { SeenCountry } from '../kit/country.ts'
import { isId } from '../kit/ids.ts'
import type { Locale } from '../kit/locales.ts'
import { type AccountRule, pinnedAccount } from '../orders/connected-account.ts'
import { askedIn } from '../orders/consents/consents.ts'
import { findDiscount } from '../orders/discounts/discounts.ts'
import { appliesIn, isOpenDiscount } from '../orders/discounts/uses.ts'
import type { Processor } from '../processors/processor.ts'
import { imagesOf } from '../products/images/urls.ts'
import { isForSale, refuseNotForSale } from '../products/off-sale.ts'
import { type Brand, brandView } from '../sellers/brand.ts'
import { type PriceRow, furtherPrices } from '../products/prices.ts'
import { type BuyerTaxId, type TaxPair, canOweTax } from '../taxes/buyer-tax-ids.ts'
import { type SaleTax, taxOf, taxOnSale } from '../taxes/sale-tax.ts'
import { notOffered, offeredPrices, priceView } from './product-prices.ts'
import type { ProductView } from './product-schema.ts'

export interface ProductViews {
  db: Db
  processors: ReadonlyMap<string, Processor>
  baseUrl: string
  /** Says at which account an order would be paid, and what the bank would print. */
  rule: AccountRule
  /** Whether VIES is asked about tax ids. */
  asksVies: boolean
}

/** The buyer who looks at a product. */
export interface BuyerView {
  locale: Locale
  /** The country that the buyer has chosen. */
  country?: string | undefined
  /** The country that the request tells. */
  seen?: SeenCountry | undefined
  /** The checked tax id of a business. */
  buyerTaxId?: BuyerTaxId | undefined
  /** The currency with which to begin, where the product has it. */
  begin?: string | undefined
}

/**
 * The public view of a product that is for sale, as the hosted page shows it. With a code it has the discount too. `currency`: the
 * price that the view is about. Refuses `product_not_found`, `shop_not_open`, `discount_not_valid`, `currency_not_offered`.
 */
export async function productView(
  parts: ProductViews,
  productId: string,
  {
    discountCode,
    currency,
    ...about
  }: BuyerView & { discountCode?: string | undefined; currency?: string | undefined },
): Promise<ProductView> {
  const { db } = parts
  const buyer = { ...about, begin: currency ?? about.begin }
  const found = isId('prod', productId) ? (await readProducts(parts, [productId], buyer))[0] : undefined
  if (!found) return refuseNotForSale(db, productId)
  const viewWith = (withoutVouchers: boolean) => {
    const view = viewOf(parts, found, { ...buyer, withoutVouchers })
    return currency === undefined ? view : inFirstPrice(view)
  }
  const view = viewWith(false)
  if (currency !== undefined && view.currency !== currency) throw notOffered()
  if (!discountCode?.trim()) return view
  const price = { productId, currency: view.currency, amountMinor: view.amount }
  const { code, percentOff, amountOffMinor, discountMinor, isLimited } = await findDiscount(db, price, discountCode)
  return {
    ...(isLimited ? viewWith(true) : view),
    discount: {
      code,
      ...(percentOff !== null && { percentOff }),
      // the buyer can choose a higher price, so the code's whole amount can come off
      amountOff: view.payWhatYouWant && amountOffMinor !== null ? amountOffMinor : discountMinor,
      amount: view.amount - discountMinor,
    },
  }
}

/** The view with the fields of the first of its prices. */
export function inFirstPrice({ suggestedAmount: _, ...view }: ProductView): ProductView {
  const { currency, amount: begin, minimum, rails, payments } = view.prices[0]!
  const { tax } = view
  const amount = minimum ?? begin
  return {
    ...view,
    currency,
    amount,
    ...(minimum !== undefined && { suggestedAmount: begin }),
    ...(tax?.rate !== undefined && {
      tax: { ...tax, amount: taxOf(amount, tax.rate, tax.prices === 'inclusive', currency) },
    }),
    rails,
    payments,
  }
}

/** The public views of several products. Products that are not for sale are left out. */
export async function productViews(
  parts: ProductViews,
  productIds: readonly string[],
  buyer: BuyerView = { locale: 'en' },
): Promise<ProductView[]> {
  const found = await readProducts(parts, productIds, buyer)
  return found.map((one) => viewOf(parts, one, { ...buyer, withoutVouchers: false }))
}

type ProductRow = Awaited<ReturnType<typeof readProducts>>[number]

async function readProducts(
  { db, rule }: ProductViews,
  productIds: readonly string[],
  { country, seen, buyerTaxId }: BuyerView,
) {
  const { account, line } = pinnedAccount(rule, { seller: sql`s.id`, suffix: sql`p.statement_suffix` })
  const buyerCountry = taxCountryOf({ country, seen }) ?? null
  const { rows } = await sql<
    Pick<
      ProductView,
      'id' | 'name' | 'description' | 'amount' | 'currency' | 'free' | 'payWhatYouWant' | 'takesCode'
    > & {
      further: PriceRow[]
      statementDescriptor: string
      /** The seller's connected account, as a processor's name. */
      account: string | null
      seller: string
      supportEmail: string | null
      brand: Brand
      imageId: string | null
      imageUrl: string | null
      suggestedAmount: number | null
      saleTax: (SaleTax & TaxPair) | null
    }
  >`
    select p.id, p.name, p.description, p.price_minor as amount, p.currency, p.image_id as "imageId", p.image_url as "imageUrl", s.name as seller, s.support_email as "supportEmail", s.brand,
      p.price_minor = 0 and not p.pay_what_you_want as free, p.pay_what_you_want as "payWhatYouWant",
      p.suggested_minor as "suggestedAmount", ${line} as "statementDescriptor", ${account} as account,
      exists (select from discounts d where d.seller_id = p.seller_id and coalesce(d.product_id, p.id) = p.id
        and ${isOpenDiscount} and (${appliesIn(sql`p.currency`)} or exists (
          select from product_prices pp where pp.product_id = p.id and ${appliesIn(sql`pp.currency`)}))) as "takesCode",
      ${furtherPrices} as further,
      case when x.is_inclusive is not null then json_build_object('isInclusive', x.is_inclusive, 'treatment', x.treatment,
        'country', x.country, 'rate', x.rate, 'buyerCountry', x.buyer_area, 'sellerCountry', x.seller_area, 'isExempt', x.is_exempt,
        'taxIds', x.tax_ids) end as "saleTax"
    from products p join sellers s on s.id = p.seller_id
    left join lateral (${taxOnSale({ seller: sql`s.id`, buyer: sql`${buyerCountry}::text`, isBusiness: sql`${buyerTaxId?.verdict === 'valid'}::boolean` })}) x on s.charges_tax
    where p.id = any(${genericPlanArray(productIds, 'text')}::text[]) and ${isForSale}
    order by p.id`.execute(db)
  return rows
}

/** `withoutVouchers`: of a payment that leaves them out. */
function viewOf(
  { processors, baseUrl, asksVies }: ProductViews,
  row: ProductRow,
  { withoutVouchers, ...buyer }: BuyerView & { withoutVouchers: boolean },
): ProductView {
  const { seller, supportEmail, brand, imageId, imageUrl, suggestedAmount, takesCode, account, saleTax, further, ...product } = row // oxfmt-ignore
  const { amount, currency, free } = product
  const first: PriceRow = { currency, leastMinor: amount, suggestedMinor: suggestedAmount }
  const country = buyer.country ?? buyer.seen?.country
  const begin = { currency: buyer.begin, country }
  const payable = { account, free, withoutVouchers, country }
  const { rails, payments } = priceView(processors, first, payable)
  return {
    ...product,
    prices: offeredPrices(processors, [first, ...further], begin).map((price) => priceView(processors, price, payable)),
    ...(suggestedAmount !== null && { suggestedAmount }),
    ...(takesCode && { takesCode }),
    ...(brand.asksConsent && !free && { consents: askedIn(buyer.locale) }),
    ...(saleTax && !free && { tax: priceTax(saleTax, product, buyer, asksVies) }),
    ...imagesOf(baseUrl, { imageId, imageUrl }),
    seller: { name: seller, ...(supportEmail && { supportEmail }), ...brandView(baseUrl, brand) },
    rails,
    payments,
  }
}

/** The tax of a price, as far as the buyer's country and its rate are known. */
function priceTax(
  saleTax: SaleTax & TaxPair,
  { amount, currency }: Pick<ProductRow, 'amount' | 'currency'>,
  { country, seen, buyerTaxId }: BuyerView,
  asksVies: boolean,
): NonNullable<ProductView['tax']> {
  const { isInclusive, treatment, country: taxCountry, rate } = saleTax
  const buyerCountry = taxCountryOf({ country, seen })
  return {
    prices: isInclusive ? 'inclusive' : 'exclusive',
    ...(buyerCountry !== undefined && { buyerCountry }),
    ...(buyerTaxId && { buyerTaxId: buyerTaxIdView(buyerTaxId) }),
    ...(asksVies && canOweTax(saleTax) && { takesTaxId: true }),
    ...(seen?.from === 'proxy' && { seenCountry: seen.country }),
    ...(treatment !== null &&
      taxCountry !== null &&
      rate !== null && { rate, country: taxCountry, treatment, amount: taxOf(amount, rate, isInclusive, currency) }),
  }
}

const buyerTaxIdView = ({ country, id, verdict, checkedAt }: BuyerTaxId) => ({ country, id, verdict, checkedAt })

/** The country for the tax: from the buyer, or from the proxy. A guess from a language would count as the buyer's own statement. */
export const taxCountryOf = ({ country, seen }: Pick<BuyerView, 'country' | 'seen'>): string | undefined =>
  country ?? (seen?.from === 'proxy' ? seen.country : undefined)
