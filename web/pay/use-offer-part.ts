import { useState } from 'preact/hooks'
import type { ProductView, Wish } from '../ui/api.ts'
import { useLater } from './later.ts'
import type { Kept } from './saved-checkout.ts'

/** The wish in the address: a link can carry a code. */
const wishInAddress = (): Wish => {
  const discountCode = new URLSearchParams(location.search).get('code')?.trim()
  return discountCode ? { discountCode } : {}
}

const load = () => import('./offer-part.tsx')

/** The fields for another currency, a chosen price and a code. The page loads them only for a product or an order that has any. */
export function useOfferPart({ free, payWhatYouWant, takesCode, prices }: ProductView, kept: Kept | undefined) {
  // Typing forgets the kept order, and the fields must not change while the buyer types.
  // The wish of the kept order counts more than the address, because the buyer may have changed it since.
  const [wish] = useState((): Wish => ({ ...wishInAddress(), ...kept?.wish }))
  const needed = !free && !!(prices[1] || payWhatYouWant || takesCode || wish.discountCode || wish.chosenAmount)
  const { loaded, failed } = useLater(load, needed)
  return {
    wish,
    Part: needed ? loaded?.OfferPart : undefined,
    waits: needed && !loaded && !failed,
    failed,
    load: () => needed && load(),
  }
}
