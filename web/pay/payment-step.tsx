import { useEffect, useState } from 'preact/hooks'
import { Submit } from '../ui/button.tsx'
import type { OrderStatus, Rail } from '../ui/api.ts'
import { money } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { sentence } from '../ui/words.ts'
import { backToEmail } from './back-step.ts'
import { NotLive } from './contact-step.tsx'
import type { StepProps } from './step-props.ts'
import { isDrawnByProcessor } from './forms.ts'
import { PayingLong } from './paying-long.tsx'
import type { PaymentForm } from './payment-form.ts'
import { ProcessorForm } from './processor-form.tsx'
import { SandboxForm } from './sandbox-form.tsx'
import { WhyNot } from './why-not.tsx'
import { say, saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

/** Step two: how to pay. The button shows the order's own price, which cannot change any more. */
export function PaymentStep({ product, checkout, state }: StepProps) {
  const { order, created, trouble, kept, busy } = state
  const [rail, setRail] = useState<Rail>(state.rail ?? product.rails[0] ?? 'card')
  const [form, setForm] = useState<PaymentForm>()
  const isSandbox = created?.processor === 'sandbox'
  useEffect(() => {
    checkout.watch(isSandbox && rail === 'upi')
    return () => checkout.watch(false)
  }, [checkout, rail, isSandbox])
  if (!created?.clientSecret || !order || product.rails.length === 0) return <NotLive />
  if (!isSandbox && !isDrawnByProcessor(created.processor)) return <NotLive />

  const price = money(order.amount, order.currency)
  const list = order.amount + (order.discountAmount ?? 0)
  // An order that a seller's program made has its own price.
  const changed =
    !kept?.link && ((list !== product.amount && !product.payWhatYouWant) || order.currency !== product.currency)
  const submit = (event: Event) => {
    event.preventDefault()
    if (form) void checkout.pay(form, isSandbox ? rail : undefined)
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <h2 tabIndex={-1}>{words.howToPay}</h2>
      <WhyNot state={state} />
      {trouble ? <Notice tone="alarm" role="alert" title={sentence(trouble)} /> : null}
      {changed && <PriceChanged price={price} />}
      <Recipient
        email={kept?.email}
        onEdit={busy === 'in_form' || kept?.link ? undefined : () => backToEmail(checkout)}
      />
      {isSandbox ? (
        <SandboxForm
          order={order}
          seller={product.seller.name}
          rails={product.rails}
          chosen={rail}
          onChoose={setRail}
          clientSecret={created.clientSecret}
          onForm={setForm}
          key={created.clientSecret}
        />
      ) : (
        <>
          {created.publishableKey?.includes('_test_') && (
            <p class="sandbox-title">
              <Icon name="flask" /> {words.testModeText}
            </p>
          )}
          <ProcessorForm
            product={product}
            order={order}
            created={created}
            email={kept?.link ? '' : (kept?.email ?? '')}
            onForm={(form) => {
              setForm(form)
              if (form) checkout.watch(false)
            }}
            onFailed={() => {
              checkout.watch(true)
              void checkout.check()
            }}
            key={created.clientSecret}
          />
        </>
      )}
      {form && <PayBar price={price} descriptor={order.statementDescriptor} inForm={busy === 'in_form'} />}
    </form>
  )
}

const PriceChanged = ({ price }: { price: string }) => (
  <Notice title={say(words.priceNow, { price })}>
    <p>{words.priceNowText}</p>
  </Notice>
)

/** Without `onEdit` the address cannot be changed now. */
function Recipient({ email, onEdit }: { email: string | undefined; onEdit: (() => void) | undefined }) {
  return (
    <p class="recipient">
      {saying(words.recipient, { email: <span class="address">{email}</span> })}
      {onEdit && (
        <button type="button" class="link" aria-label={words.changeEmail} onClick={onEdit}>
          {words.change}
        </button>
      )}
    </p>
  )
}

interface PayBarProps {
  price: string
  descriptor: OrderStatus['statementDescriptor']
  /** The buyer is paying in a processor's form. */
  inForm: boolean
}

function PayBar({ price, descriptor, inForm }: PayBarProps) {
  return (
    <div class="pay-bar">
      <Submit busy={inForm ? words.confirming : undefined}>
        <Icon name="lock" /> {say(words.pay, { price })}
      </Submit>
      {inForm && <PayingLong />}
      {descriptor && (
        <p class="soft small">{saying(words.appearsAs, { text: <span class="mono">{descriptor}</span> })}</p>
      )}
    </div>
  )
}
