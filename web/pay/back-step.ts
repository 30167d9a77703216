import { useEffect, useRef } from 'preact/hooks'
import type { Checkout } from './checkout.ts'
import type { View } from './state.ts'

/** The mark of a history entry at which the buyer chooses how to pay. */
const PAYING = 'paying'
const isAtPayment = (): boolean => history.state === PAYING

/** The browser's Back leads from the payment to the address, and only from there away from the page. */
export function useBackStep(view: View, { editEmail, get }: Checkout): void {
  const shownRef = useRef<View>(view)
  useEffect(() => {
    const from = shownRef.current
    shownRef.current = view
    if (from === 'contact' && view === 'payment' && !isAtPayment()) history.pushState(PAYING, '')
  }, [view])
  useEffect(() => {
    const goBack = () => {
      if (isAtPayment() || view !== 'payment' || get().kept?.link) return
      editEmail()
    }
    addEventListener('popstate', goBack)
    return () => removeEventListener('popstate', goBack)
  }, [view, editEmail, get])
}

/** What the page's own link to the address does: the same as Back. */
export const backToEmail = ({ editEmail }: Checkout) => (isAtPayment() ? history.back() : editEmail())
