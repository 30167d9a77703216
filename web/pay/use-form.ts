import { useRef, useState } from 'preact/hooks'
import type { PaymentForm } from './payment-form.ts'

/** The payment form on the screen. A press on the button can come before it, and then waits for it. */
export function useForm() {
  const [failed, setFailed] = useState(false)
  const shownRef = useRef<PaymentForm | undefined>(undefined)
  const waitersRef = useRef<((form: PaymentForm | undefined) => void)[]>([])
  const answer = (form: PaymentForm | undefined) => {
    for (const tell of waitersRef.current.splice(0)) tell(form)
  }
  return {
    /** The form does not appear. */
    failed,
    /** Undefined: it does not appear. */
    whenReady: (): Promise<PaymentForm | undefined> =>
      shownRef.current || failed
        ? Promise.resolve(shownRef.current)
        : new Promise((done) => waitersRef.current.push(done)),
    set(form: PaymentForm | undefined) {
      shownRef.current = form
      if (!form) return
      setFailed(false)
      answer(form)
    },
    fail() {
      setFailed(true)
      answer(undefined)
    },
  }
}
