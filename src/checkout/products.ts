import { sql } from 'kysely'
import { type Db, genericPlanArray } from '../kit/database.ts'
import { isId } from '../kit/ids.ts'
import type { Locale } from '../kit/locales.ts'
import { askedIn } from '../orders/consents/consents.ts'
import { findDiscount } from '../orders/discounts/discounts.ts'
import { isOpenDiscount } from '../orders/discounts/uses.ts'
import type { Processor } from '../processors/processor.ts'
import { imagesOf } from '../products/images/urls.ts'
import { isForSale, refuseNotForSale } from '../products/off-sale.ts'
import { type Brand, brandView } from '../sellers/brand.ts'
import { processorFor } from '../processors/routing.ts'
import type { ProductView } from './product-schema.ts'

/**
 * The public view of a product that is for sale, as the hosted page shows it. With a code it has the discount too. Refuses
 * `product_not_found`, `shop_not_open`, `discount_not_valid`.
 */
export async function productView(
  db: Db,
  processors: ReadonlyMap<string, Processor>,
  baseUrl: string,
  productId: string,
  { discountCode, locale }: { discountCode?: string | undefined; locale: Locale },
): Promise<ProductView> {
  const view = isId('prod', productId)
    ? (await productViews(db, processors, baseUrl, [productId], locale))[0]
    : undefined
  if (!view) return refuseNotForSale(db, productId)
  return discountCode?.trim() ? { ...view, discount: await discountView(db, view, discountCode) } : view
}

async function discountView(db: Db, { id, amount, payWhatYouWant }: ProductView, typed: string) {
  const { code, percentOff, amountOffMinor, discountMinor } = await findDiscount(db, id, typed)
  return {
    code,
    ...(percentOff !== null && { percentOff }),
    // the buyer can choose a higher price, so the code's whole amount can come off
    amountOff: payWhatYouWant && amountOffMinor !== null ? amountOffMinor : discountMinor,
    amount: amount - discountMinor,
  }
}

/** The public views of several products. Products that are not for sale are left out. */
export async function productViews(
  db: Db,
  processors: ReadonlyMap<string, Processor>,
  baseUrl: string,
  productIds: readonly string[],
  locale: Locale = 'en',
): Promise<ProductView[]> {
  const { rows } = await sql<
    Omit<ProductView, 'seller' | 'consents' | 'rails' | 'payments' | 'imageUrl' | 'images' | 'suggestedAmount'> & {
      seller: string
      supportEmail: string | null
      brand: Brand
      imageId: string | null
      imageUrl: string | null
      suggestedAmount: number | null
    }
  >`
    select p.id, p.name, p.description, p.price_minor as amount, p.currency, p.image_id as "imageId", p.image_url as "imageUrl", s.name as seller, s.support_email as "supportEmail", s.brand,
      p.price_minor = 0 and not p.pay_what_you_want as free, p.pay_what_you_want as "payWhatYouWant",
      p.suggested_minor as "suggestedAmount",
      exists (select from discounts d where d.seller_id = p.seller_id and coalesce(d.product_id, p.id) = p.id
        and coalesce(d.currency, p.currency) = p.currency and ${isOpenDiscount}) as "takesCode"
    from products p join sellers s on s.id = p.seller_id
    where p.id = any(${genericPlanArray(productIds, 'text')}::text[]) and ${isForSale}
    order by p.id`.execute(db)
  return rows.map(({ seller, supportEmail, brand, imageId, imageUrl, suggestedAmount, takesCode, ...product }) => {
    const processor = processorFor(processors, product.currency)
    return {
      ...product,
      ...(suggestedAmount !== null && { suggestedAmount }),
      ...(takesCode && { takesCode }),
      ...(brand.asksConsent && !product.free && { consents: askedIn(locale) }),
      ...imagesOf(baseUrl, { imageId, imageUrl }),
      seller: { name: seller, ...(supportEmail && { supportEmail }), ...brandView(baseUrl, brand) },
      rails: processor?.rails(product.currency) ?? [],
      payments: { live: processor !== undefined, ...(processor && { processor: processor.name }) },
    }
  })
}
