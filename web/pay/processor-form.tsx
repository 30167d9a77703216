import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Created, OrderStatus, ProductView } from '../ui/api.ts'
import { Notice } from '../ui/notice.tsx'
import { waysIn } from '../ui/words.ts'
import { lacksPart, openForm } from './forms.ts'
import type { PaymentForm } from './payment-form.ts'
import { returnUrl } from './returned.ts'
import { ownSite } from './site.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

const SLOW_MS = 6_000

interface ProcessorFormProps {
  product: ProductView
  order: OrderStatus
  created: Created
  email: string
  /** The form once the buyer can use it, and undefined before and afterwards. */
  onForm: (form: PaymentForm | undefined) => void
  /** The form does not appear. It may be the form of a payment that was already made. */
  onFailed: () => void
}

type Stage = 'loading' | 'slow' | 'ready' | 'failed'

/** The place of a form that a processor's script draws. This page never sees what the buyer types there. */
export function ProcessorForm({ product, order, created, email, onForm, onFailed }: ProcessorFormProps) {
  const { processor = '' } = created
  const place = useRef<HTMLDivElement>(null)
  const whole = useRef<HTMLDivElement>(null)
  const [stage, setStage] = useState<Stage>('loading')
  const [tries, setTries] = useState(0)
  // The page's security policy allows only the processor that the product had when the page was made.
  const isExpected = processor === product.payments.processor
  const again = useCallback(() => {
    if (lacksPart || !isExpected) return location.reload()
    setTries((before) => before + 1)
    // The pressed button has left the page.
    whole.current?.focus()
  }, [isExpected])

  const open = () => openForm(processor, place.current!, partsOf({ product, order, created, email }))
  const current = useRef({ open, onForm, onFailed })
  useEffect(() => {
    const { open, onForm, onFailed } = current.current
    let gone = false
    let form: PaymentForm | undefined
    setStage('loading')
    const slow = setTimeout(() => setStage('slow'), SLOW_MS)
    open()
      .then(
        (opened) => {
          if (gone) return opened.destroy()
          form = opened
          setStage('ready')
          onForm(opened)
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
      form?.destroy()
    }
  }, [tries])
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

const partsOf = ({ product, order, created, email }: Omit<ProcessorFormProps, 'onForm' | 'onFailed'>) => ({
  clientSecret: created.clientSecret ?? '',
  publishableKey: created.publishableKey ?? '',
  account: created.account,
  email,
  amount: order.amount,
  currency: order.currency,
  seller: product.seller.name,
  product: product.name,
  rails: waysIn(product.rails),
  returnUrl: returnUrl(order.orderId, created.returnToken),
  leave: ownSite?.leave,
  language: document.documentElement.lang,
  words,
})

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
      Try again
    </button>
  </Notice>
)
