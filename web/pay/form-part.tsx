import { useEffect, useState } from 'preact/hooks'
import type { Rail } from '../ui/api.ts'
import { Icon } from '../ui/icon.tsx'
import { WAYS, waysIn } from '../ui/words.ts'
import { isDrawnByProcessor } from './forms.ts'
import type { PaymentForm } from './payment-form.ts'
import { ProcessorForm } from './processor-form.tsx'
import { SandboxForm } from './sandbox-form.tsx'
import type { StepProps } from './step-props.ts'
import type { Total } from './total.ts'
import type { PageWallets } from './use-wallets.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

interface FormPartProps extends StepProps {
  total: Total
  rail: Rail
  onRail: (rail: Rail) => void
  onForm: (form: PaymentForm | undefined) => void
  wallets: PageWallets
  onFailed: () => void
}

/** Which processor takes the payment: the order's own, once there is one. */
export const processorOf = ({ product, state }: Pick<StepProps, 'product' | 'state'>): string | undefined =>
  state.created?.processor ?? product.payments.processor

export const canShowForm = (processor: string | undefined): boolean =>
  processor === 'sandbox' || isDrawnByProcessor(processor)

/** Some payment methods show only for a payment that exists, so the order is made before the form is shown. */
export const needsOrder = ({ product, state }: Pick<StepProps, 'product' | 'state'>): boolean =>
  processorOf({ product, state }) === 'stripe' && !product.payments.form && !state.created

/** The payment form, in its place below the address. */
export function FormPart({ product, checkout, state, total, rail, onRail, onForm, onFailed, wallets }: FormPartProps) {
  const { order, created, kept, offer } = state
  // An order of an earlier visit, or of a try that had no answer: the form is opened for its payment, and shows only while it is open.
  const [first] = useState(created)
  const processor = processorOf({ product, state })
  const isSandbox = processor === 'sandbox'
  useEffect(() => {
    checkout.watch(isSandbox && rail === 'upi')
    return () => checkout.watch(false)
  }, [checkout, rail, isSandbox])
  if (needsOrder({ product, state })) return <Ways product={product} />
  if (isSandbox)
    return (
      <SandboxForm
        order={{ ...(order && { orderId: order.orderId }), amount: total.amountMinor, currency: total.currency }}
        seller={product.seller.name}
        rails={product.rails}
        wallets={wallets}
        chosen={rail}
        onChoose={onRail}
        onForm={(form) => onForm({ ...form, fits: (created) => created.processor === 'sandbox' })}
        key={total.currency}
      />
    )
  const { form: setup } = offer?.form ? offer : product.payments
  // A form that was there before the order stays. A form of the order's own would be drawn in the middle of the payment.
  const isOwn = kept?.link || !setup || (first && first.orderId === created?.orderId)
  const own = processor === 'stripe' && isOwn ? created : undefined
  const { publishableKey, account } = own ?? setup ?? {}
  return (
    <>
      {(publishableKey ?? created?.publishableKey)?.includes('_test_') && (
        <p class="sandbox-title">
          <Icon name="flask" /> {words.testModeText}
        </p>
      )}
      <ProcessorForm
        product={product}
        processor={processor!}
        due={{ amount: total.amountMinor, currency: total.currency, setup }}
        created={own}
        knowsEmail={!kept?.link}
        wallets={wallets}
        onForm={(form) => {
          onForm(form)
          if (form) checkout.watch(false)
        }}
        onFailed={() => {
          onFailed()
          checkout.watch(true)
          void checkout.check()
        }}
        key={[processor, publishableKey, account, own?.clientSecret, total.currency].join()}
      />
    </>
  )
}

function Ways({ product: { payments, rails } }: Pick<StepProps, 'product'>) {
  const ways = payments.processor === 'sandbox' ? rails.map((rail) => WAYS[rail]) : waysIn(rails)
  return (
    <div class="accepted">
      <p class="soft small">{words.thenChoose}</p>
      <ul class="soft small">
        {ways.map((way) => (
          <li key={way}>{way}</li>
        ))}
      </ul>
    </div>
  )
}
