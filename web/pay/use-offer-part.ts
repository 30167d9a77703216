import type { ProductView, Wish } from '../ui/api.ts'
import { useLater } from './later.ts'

/** The wish in the address: a link can carry a code. */
export const wishInAddress = (): Wish => {
  const discountCode = new URLSearchParams(location.search).get('code')?.trim()
  return discountCode ? { discountCode } : {}
}

const load = () => import('./offer-part.tsx')

/** The fields for another currency, a chosen price and a code. The page loads them only for products that have any. */
export function useOfferPart({ free, payWhatYouWant, takesCode, prices }: ProductView) {
  const needed = !free && Boolean(prices[1] || payWhatYouWant || takesCode || wishInAddress().discountCode)
  const { loaded, failed } = useLater(load, needed)
  return {
    Part: needed ? loaded?.OfferPart : undefined,
    waits: needed && !loaded && !failed,
    failed,
    load: () => needed && load(),
  }
}
