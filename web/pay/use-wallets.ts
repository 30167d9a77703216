import { useRef, useState } from 'preact/hooks'
import type { Wish } from '../ui/api.ts'
import type { useConsents } from './consent-part.tsx'
import type { useContact } from './contact-part.tsx'
import type { PaymentForm, Wallets } from './payment-form.ts'
import type { StepProps } from './step-props.ts'
import { expectsWallet } from './device-wallets.ts'
import type { useTax } from './tax-line.tsx'
import { isAsMade } from './state.ts'
import { isSameTotal, type Total, totalOf } from './total.ts'
import type { usePress } from './use-press.ts'

/** The port of the wallets, for a form that is already wrapped for the page. */
export type PageWallets = Omit<Wallets, 'confirm'> & {
  confirm: (form: PaymentForm, wallet: Parameters<Wallets['confirm']>[1]) => Promise<boolean>
}

interface Screen extends StepProps {
  contact: ReturnType<typeof useContact>
  consents: ReturnType<typeof useConsents>
  tax: ReturnType<typeof useTax>
  press: ReturnType<typeof usePress>
  /** The fields for a chosen price and a code. */
  readerRef: { current: (() => Promise<Wish | undefined>) | undefined }
  /** The buyer's wish. Undefined: something is missing. */
  read: () => Promise<{ wish: Wish | undefined } | undefined>
}

/** The place of the wallets' buttons. A form keeps the answers for as long as it is on the screen, so they ask the latest render. */
export function useWallets({ product, checkout, state, contact, consents, tax, press, readerRef, read }: Screen) {
  const isLinked = state.kept?.link !== undefined
  const total = totalOf(product, state)
  /** The total at the press that opened the wallet's own window, which shows it. */
  const seenRef = useRef(total)
  const answers: Pick<PageWallets, 'open' | 'confirm'> & { total: Total } = {
    total,
    open(knowsEmail) {
      seenRef.current = total
      const asksEmail = knowsEmail && !isLinked && contact.email.trim() === ''
      if (state.busy || press.busy || total.isFree) return undefined
      if (!isLinked && ((!asksEmail && !contact.check()) || !consents.check() || !(isAsMade(state) || tax.read())))
        return undefined
      // The field for the price says what is wrong.
      if (total.isOpen) return void readerRef.current?.()
      return { asksEmail }
    },
    async confirm(form, { email = '', rail }) {
      let isTaken = false
      await press.run(async (isCurrent) => {
        const to = contact.email.trim() || email
        contact.take(to)
        const asked = await read()
        if (!asked) return
        const fault = await form.check()
        if (fault) return checkout.refuse(fault)
        if (!isSameTotal(latestRef.current.total, seenRef.current)) return checkout.showPrice()
        isTaken = await checkout.buy({ email: to, wish: asked.wish, form, rail, isCurrent })
      })
      return isTaken
    },
  }
  const [shown, setShown] = useState<'expected' | 'there' | undefined>(() =>
    expectsWallet(product) ? 'expected' : undefined,
  )
  const walletsRef = useRef<HTMLDivElement>(null)
  const latestRef = useRef(answers)
  // A press on a wallet can come before an effect runs.
  latestRef.current = answers
  const [wallets] = useState<PageWallets>(() => ({
    get place() {
      return walletsRef.current!
    },
    // A buyer who has begun to type goes on where the fields are.
    show: (are) => setShown((before) => (are && (before || !isTyping()) ? 'there' : undefined)),
    open: (knowsEmail) => latestRef.current.open(knowsEmail),
    confirm: (form, wallet) => latestRef.current.confirm(form, wallet),
  }))
  return { shownWallets: shown, walletsRef, wallets }
}

const isTyping = (): boolean => document.activeElement?.closest('form') !== null
