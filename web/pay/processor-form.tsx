import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Created, ProductView } from '../ui/api.ts'
import { reload } from '../ui/language-choice.tsx'
import { Notice } from '../ui/notice.tsx'
import { LANGUAGE } from '../ui/page-data.ts'
import { waysIn } from '../ui/words.ts'
import { lacksPart, openForm } from './forms.ts'
import type { Due, MountedForm, PaymentForm, Wallets } from './payment-form.ts'
import { ownSite } from './site.ts'
import type { PageWallets } from './use-wallets.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

const SLOW_MS = 6_000

interface ProcessorFormProps {
  product: ProductView
  processor: string
  /** The amount to pay, and the form's setup before there is an order. */
  due: Due
  /** The order's payment, for which the form is opened. Undefined: the order is made when the buyer pays. */
  created: Created | undefined
  knowsEmail: boolean
  wallets: PageWallets
  /** The form once the buyer can use it, and undefined before and afterwards. */
  onForm: (form: PaymentForm | undefined) => void
  /** The form does not appear. It may be the form of a payment that was already made. */
  onFailed: () => void
}

type Stage = 'loading' | 'slow' | 'ready' | 'failed'

/** The place of a form that a processor's script draws. This page never sees the buyer's input there. */
export function ProcessorForm(props: ProcessorFormProps) {
  const { product, processor, onForm, onFailed } = props
  const { amount, currency, setup } = props.due
  const place = useRef<HTMLDivElement>(null)
  const whole = useRef<HTMLDivElement>(null)
  const [stage, setStage] = useState<Stage>('loading')
  const [tries, setTries] = useState(0)
  // The page's security policy allows only the processor that the product had when the page was made.
  const isExpected = processor === product.payments.processor
  const again = useCallback(() => {
    if (lacksPart || !isExpected) return reload()
    setTries((before) => before + 1)
    // The pressed button has left the page.
    whole.current?.focus()
  }, [isExpected])

  const fitsHere = (created: Created) => fits(props, created)
  const wallets = withFits(props.wallets, fitsHere)
  const open = () => openForm(processor, place.current!, { ...partsOf(props), wallets })
  const current = useRef({ open, onForm, onFailed, fits: fitsHere })
  const shownRef = useRef<MountedForm | undefined>(undefined)
  useEffect(() => {
    const { open, onForm, onFailed, fits } = current.current
    let gone = false
    setStage('loading')
    const slow = setTimeout(() => setStage('slow'), SLOW_MS)
    open()
      .then(
        (opened) => {
          if (gone) return opened.destroy()
          shownRef.current = opened
          setStage('ready')
          onForm({ ...opened, fits })
        },
        () => {
          if (gone) return
          setStage('failed')
          onFailed()
        },
      )
      .finally(() => clearTimeout(slow))
    return () => {
      gone = true
      clearTimeout(slow)
      onForm(undefined)
      shownRef.current?.destroy()
      shownRef.current = undefined
    }
  }, [tries])
  useEffect(() => shownRef.current?.update?.({ amount, currency, setup }), [amount, currency, setup, stage])
  useEffect(() => {
    if (stage !== 'failed') return
    addEventListener('online', again)
    return () => removeEventListener('online', again)
  }, [stage, again])

  return (
    <section
      class="form-place"
      data-processor={processor}
      data-stage={stage}
      ref={whole}
      tabIndex={-1}
      aria-label={words.form}
    >
      <div ref={place} inert={stage !== 'ready'} />
      {(stage === 'loading' || stage === 'slow') && <Blank slow={stage === 'slow'} />}
      {stage === 'failed' && <Failed again={again} />}
    </section>
  )
}

const partsOf = ({ product, due, created, knowsEmail }: ProcessorFormProps) => ({
  clientSecret: created?.clientSecret,
  publishableKey: created?.publishableKey ?? due.setup?.publishableKey ?? '',
  account: created ? created.account : due.setup?.account,
  due,
  knowsEmail,
  seller: product.seller.name,
  product: product.name,
  rails: waysIn(product.rails),
  leave: ownSite?.leave,
  language: LANGUAGE,
  words,
})

const withFits = (wallets: PageWallets, fits: PaymentForm['fits']): Wallets => ({
  // The place is there once the page is drawn.
  get place() {
    return wallets.place
  },
  show: wallets.show,
  open: wallets.open,
  confirm: (form, wallet) => wallets.confirm({ ...form, fits }, wallet),
})

/** A form that asks for the account shows at one account, and pays there and nowhere else. */
function fits({ processor, due: { setup }, created: own }: ProcessorFormProps, created: Created): boolean {
  if (created.processor !== processor) return false
  if (own) return own.clientSecret === created.clientSecret
  return !setup || (setup.publishableKey === created.publishableKey && setup.account === created.account)
}

const Blank = ({ slow }: { slow: boolean }) => (
  <div class="form-blank">
    <span />
    <span />
    <span />
    <output class="soft small">{slow ? words.formSlow : words.formLoading}</output>
  </div>
)

const Failed = ({ again }: { again: () => void }) => (
  <Notice tone="alarm" role="alert" title={words.formFailed}>
    <p>{words.formFailedText}</p>
    <button type="button" class="link" onClick={again}>
      {shared.tryAgain}
    </button>
  </Notice>
)
