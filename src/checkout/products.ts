import { sql } from 'kysely'
import { type Db, genericPlanArray } from '../kit/database.ts'
import type { SeenCountry } from '../kit/country.ts'
import { isId } from '../kit/ids.ts'
import type { Locale } from '../kit/locales.ts'
import { type AccountRule, pinnedAccount } from '../orders/connected-account.ts'
import { askedIn } from '../orders/consents/consents.ts'
import { findDiscount } from '../orders/discounts/discounts.ts'
import { isOpenDiscount } from '../orders/discounts/uses.ts'
import type { Processor } from '../processors/processor.ts'
import { imagesOf } from '../products/images/urls.ts'
import { isForSale, refuseNotForSale } from '../products/off-sale.ts'
import { type Brand, brandView } from '../sellers/brand.ts'
import { processorFor } from '../processors/routing.ts'
import { type SaleTax, taxOf, taxOnSale } from '../taxes/sale-tax.ts'
import type { ProductView } from './product-schema.ts'

export interface ProductViews {
  db: Db
  processors: ReadonlyMap<string, Processor>
  baseUrl: string
  /** At which account an order would be paid, and what the bank would print. */
  rule: AccountRule
}

/** Who looks. */
export interface BuyerView {
  locale: Locale
  /** The country that the buyer has chosen. */
  country?: string | undefined
  /** The country that the request tells. */
  seen?: SeenCountry | undefined
}

/**
 * The public view of a product that is for sale, as the hosted page shows it. With a code it has the discount too. Refuses
 * `product_not_found`, `shop_not_open`, `discount_not_valid`.
 */
export async function productView(
  parts: ProductViews,
  productId: string,
  { discountCode, ...buyer }: BuyerView & { discountCode?: string | undefined },
): Promise<ProductView> {
  const { db } = parts
  const found = isId('prod', productId) ? (await readProducts(parts, [productId], buyer))[0] : undefined
  if (!found) return refuseNotForSale(db, productId)
  if (!discountCode?.trim()) return viewOf(parts, found, { ...buyer, withoutVouchers: false })
  const { code, percentOff, amountOffMinor, discountMinor, isLimited } = await findDiscount(db, productId, discountCode)
  return {
    ...viewOf(parts, found, { ...buyer, withoutVouchers: isLimited }),
    discount: {
      code,
      ...(percentOff !== null && { percentOff }),
      // the buyer can choose a higher price, so the code's whole amount can come off
      amountOff: found.payWhatYouWant && amountOffMinor !== null ? amountOffMinor : discountMinor,
      amount: found.amount - discountMinor,
    },
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

async function readProducts({ db, rule }: ProductViews, productIds: readonly string[], { country, seen }: BuyerView) {
  const { account, line } = pinnedAccount(rule, { seller: sql`s.id`, suffix: sql`p.statement_suffix` })
  const buyerCountry = country ?? seen?.country ?? null
  const { rows } = await sql<
    Pick<
      ProductView,
      'id' | 'name' | 'description' | 'amount' | 'currency' | 'free' | 'payWhatYouWant' | 'takesCode'
    > & {
      statementDescriptor: string
      /** The seller's own account at the processor, as a processor's name. */
      account: string | null
      seller: string
      supportEmail: string | null
      brand: Brand
      imageId: string | null
      imageUrl: string | null
      suggestedAmount: number | null
      saleTax: SaleTax | null
    }
  >`
    select p.id, p.name, p.description, p.price_minor as amount, p.currency, p.image_id as "imageId", p.image_url as "imageUrl", s.name as seller, s.support_email as "supportEmail", s.brand,
      p.price_minor = 0 and not p.pay_what_you_want as free, p.pay_what_you_want as "payWhatYouWant",
      p.suggested_minor as "suggestedAmount", ${line} as "statementDescriptor", ${account} as account,
      exists (select from discounts d where d.seller_id = p.seller_id and coalesce(d.product_id, p.id) = p.id
        and coalesce(d.currency, p.currency) = p.currency and ${isOpenDiscount}) as "takesCode",
      case when x.is_inclusive is not null then json_build_object('isInclusive', x.is_inclusive, 'treatment', x.treatment,
        'country', x.country, 'rate', x.rate) end as "saleTax"
    from products p join sellers s on s.id = p.seller_id
    left join lateral (${taxOnSale({ seller: sql`s.id`, buyer: sql`${buyerCountry}::text` })}) x on s.charges_tax
    where p.id = any(${genericPlanArray(productIds, 'text')}::text[]) and ${isForSale}
    order by p.id`.execute(db)
  return rows
}

/** `withoutVouchers`: of a payment that leaves them out. */
function viewOf(
  { processors, baseUrl }: ProductViews,
  row: ProductRow,
  { withoutVouchers, ...buyer }: BuyerView & { withoutVouchers: boolean },
): ProductView {
  const { seller, supportEmail, brand, imageId, imageUrl, suggestedAmount, takesCode, account, saleTax, ...product } =
    row
  const processor = processorFor(processors, product.currency)
  // an order is paid at its seller's account and nowhere else
  const paidAt = account === null ? processor : processors.get(account)
  const form = !product.free && paidAt?.formSetup?.({ currency: product.currency, withoutVouchers })
  return {
    ...product,
    ...(suggestedAmount !== null && { suggestedAmount }),
    ...(takesCode && { takesCode }),
    ...(brand.asksConsent && !product.free && { consents: askedIn(buyer.locale) }),
    ...(saleTax && !product.free && { tax: priceTax(saleTax, product.amount, buyer) }),
    ...imagesOf(baseUrl, { imageId, imageUrl }),
    seller: { name: seller, ...(supportEmail && { supportEmail }), ...brandView(baseUrl, brand) },
    rails: processor?.rails(product.currency) ?? [],
    payments: { live: processor !== undefined, ...(processor && { processor: processor.name }), ...(form && { form }) },
  }
}

/** The tax of a price, as far as the buyer's country and its rate are known. */
function priceTax(
  { isInclusive, treatment, country: taxCountry, rate }: SaleTax,
  amountMinor: number,
  { country, seen }: BuyerView,
): NonNullable<ProductView['tax']> {
  const buyerCountry = country ?? seen?.country
  return {
    prices: isInclusive ? 'inclusive' : 'exclusive',
    ...(buyerCountry !== undefined && { buyerCountry }),
    ...(seen?.from === 'proxy' && { seenCountry: seen.country }),
    ...(treatment !== null &&
      taxCountry !== null &&
      rate !== null && { rate, country: taxCountry, treatment, amount: taxOf(amountMinor, rate, isInclusive) }),
  }
}
