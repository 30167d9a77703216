import { type ComponentType, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { decimalsOf, decimalText } from '../../src/kit/money.ts'
import { getProduct, type ProductView, type Wish } from '../ui/api.ts'
import { money, percent } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { sentence } from '../ui/words.ts'
import type { OfferProps } from './offer-part.tsx'
import { say, saying, wordsOf } from '../ui/language.ts'

let part: ComponentType<OfferProps> | undefined

/** The wish in the address: a link can carry a code. */
export const wishInAddress = (): Wish => {
  const discountCode = new URLSearchParams(location.search).get('code')?.trim()
  return discountCode ? { discountCode } : {}
}

/** The fields for another currency, a chosen price and a code. The page loads them only for products that have any. */
export function useOfferPart({ free, payWhatYouWant, takesCode, prices }: ProductView) {
  const needed = !free && Boolean(prices[1] || payWhatYouWant || takesCode || wishInAddress().discountCode)
  const [Part, setPart] = useState(() => part)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    if (needed && !part)
      import('./offer-part.tsx').then(
        ({ offerPart }) => {
          part = offerPart({
            h,
            useState,
            useEffect,
            Icon,
            money,
            percent,
            decimalText,
            decimalsOf,
            getProduct,
            sentence,
            say,
            saying,
            words: { ...wordsOf('ui'), ...wordsOf('pay') },
          })
          setPart(() => part)
        },
        () => setFailed(true),
      )
  }, [needed])
  return { Part: needed ? Part : undefined, waits: needed && !Part && !failed, failed }
}
