import { useEffect, useRef, useState } from 'preact/hooks'
import { Submit } from '../ui/button.tsx'
import { Trouble, type Rail } from '../ui/api.ts'
import { money } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { sentence } from '../ui/words.ts'
import { NotLive } from './contact-step.tsx'
import type { StepProps } from './counter.tsx'
import { RailChoice } from './rail-choice.tsx'
import { ScenarioChoice } from './sandbox-form.tsx'

/** Step two: how to pay. The price on the button is the order's, which nothing can change any more. */
export function PaymentStep({ product, checkout, state }: StepProps) {
  const { order, created, notice, trouble, kept } = state
  const [rail, setRail] = useState<Rail>(state.rail ?? product.rails[0] ?? 'card')
  const [scenario, setScenario] = useState('success')
  const alarm = useRef<HTMLDivElement>(null)
  useEffect(() => alarm.current?.focus(), [notice])
  useEffect(() => {
    checkout.watch(rail === 'upi')
    return () => checkout.watch(false)
  }, [checkout, rail])
  if (!created?.clientSecret || !order || product.rails.length === 0) return <NotLive />

  if (trouble instanceof Trouble && trouble.code === 'payment_closed') return <Closed onAgain={checkout.startOver} />

  const price = money(order.amount, order.currency)
  const changed = order.amount !== product.amount || order.currency !== product.currency
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void checkout.pay(rail, scenario)
      }}
    >
      <h2 tabIndex={-1}>How would you like to pay?</h2>
      {notice === 'declined' && (
        <Notice tone="alarm" role="alert" focus={alarm} title="Your bank declined the payment. Nothing was taken.">
          <p>You can try again or choose another way to pay. Your order stays the same.</p>
        </Notice>
      )}
      {notice === 'not_taken' && (
        <Notice tone="alarm" role="alert" focus={alarm} title="Your payment did not go through. Nothing was taken.">
          <p>The connection was lost before your bank was asked. You can try again; your order stays the same.</p>
        </Notice>
      )}
      {trouble ? <Notice tone="alarm" role="alert" title={sentence(trouble)} /> : null}
      {changed && (
        <Notice title={`The price is now ${price}.`}>
          <p>The seller changed it while this page was open. You pay the amount on the button and nothing else.</p>
        </Notice>
      )}
      <p class="recipient">
        <span class="soft">For</span> <span class="address">{kept?.email}</span>
        <button type="button" class="link" onClick={checkout.editEmail}>
          Change<span class="unseen"> e-mail</span>
        </button>
      </p>
      <RailChoice rails={product.rails} chosen={rail} onChoose={setRail} order={order} seller={product.seller.name} />
      <ScenarioChoice value={scenario} onValue={setScenario} />
      <div class="pay-bar">
        <Submit>
          <Icon name="lock" /> Pay {price}
        </Submit>
        {order.statementDescriptor && (
          <p class="soft small">
            Appears on your statement as <span class="mono">{order.statementDescriptor}</span>
          </p>
        )}
      </div>
    </form>
  )
}

const Closed = ({ onAgain }: { onAgain: () => void }) => (
  <div class="stack">
    <h2 tabIndex={-1}>This order is closed</h2>
    <p class="soft">It was declined too often, or it has waited too long. Nothing was taken.</p>
    <p>
      <button type="button" class="button" onClick={onAgain}>
        Start a new order
      </button>
    </p>
  </div>
)
