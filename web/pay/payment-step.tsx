import { money } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { sentence } from '../ui/words.ts'
import { canShowForm, FormPart, needsOrder, processorOf } from './form-part.tsx'
import { PayBar } from './pay-bar.tsx'
import type { StepProps } from './step-props.ts'
import { totalOf } from './total.ts'
import { usePurchase } from './use-purchase.ts'
import { WhyNot } from './why-not.tsx'
import { say, saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

/** One screen: the address, the buyer's choices, the payment form. A press on the button makes the order and pays it. */
export function PaymentStep({ product, checkout, state }: StepProps) {
  const { trouble, kept, busy, repriced, order } = state
  const { offer: onOffer, choose: onCurrency } = checkout
  const purchase = usePurchase({ product, checkout, state })
  const { rail, press, contact, consents, tax, form, offer, shownWallets, walletsRef, readerRef } = purchase
  const { Part, wish, waits, failed } = offer
  const total = totalOf(product, state)
  const isLinked = kept?.link !== undefined
  const isPayable = product.payments.live && product.rails.length > 0 && canShowForm(processorOf({ product, state }))
  if (!isPayable && !total.isFree) return <NotLive />
  return (
    <form class="stack" noValidate onSubmit={purchase.submit} onFocusOut={contact.leave}>
      <WhyNot state={state} />
      {/* The page keeps it with the fields when it loads itself again. */}
      <input type="hidden" id="typed" value={state.typed} />
      {!total.isFree && (
        // A form draws a button into this place before anybody knows whether the buyer can use it.
        <div class={shownWallets ? 'wallets' : 'no-wallets'} data-stage={shownWallets}>
          <div ref={walletsRef} />
          <p class="or soft small">{words.orElse}</p>
        </div>
      )}
      <h2 tabIndex={-1}>{isLinked ? words.howToPay : words.yourEmail}</h2>
      {isLinked ? <Recipient email={kept?.email} /> : contact.part}
      {!isLinked && waits && <div class="blank short" />}
      {!isLinked && Part && (
        <Part {...{ product, state, wish, onOffer, onCurrency, readerRef }} onType={press.takeBack} />
      )}
      {!isLinked && !total.isFree && tax.part}
      {(failed || tax.failed) && <Notice tone="alarm" title={words.partMissing} role="alert" />}
      {!total.isFree && (
        <>
          {!isLinked && <h2>{words.howToPay}</h2>}
          <FormPart
            product={product}
            checkout={checkout}
            state={state}
            total={total}
            rail={rail}
            onRail={purchase.setRail}
            onForm={form.set}
            wallets={purchase.wallets}
            onFailed={form.fail}
          />
        </>
      )}
      {!isLinked && consents.part}
      {repriced && (
        <Notice title={say(words.priceNow, { price: money(total.amountMinor, total.currency) })} role="alert">
          {repriced === 'seller' && <p>{words.priceNowText}</p>}
        </Notice>
      )}
      {trouble && !contact.isRefused && !tax.isRefused ? (
        <NotMade trouble={trouble} isMade={kept?.orderId !== undefined} />
      ) : null}
      {(total.isFree || !form.failed) && (
        <PayBar
          total={total}
          descriptor={product.payments.onStatement ?? order?.statementDescriptor ?? product.statementDescriptor}
          isFirst={needsOrder({ product, state })}
          isPressed={press.busy}
          busy={busy}
        />
      )}
    </form>
  )
}

const NotMade = ({ trouble, isMade }: { trouble: unknown; isMade: boolean }) => (
  <Notice tone="alarm" title={sentence(trouble)} role="alert">
    {!navigator.onLine && !isMade && <p>{words.notCreatedYet}</p>}
  </Notice>
)

/** The address of a linked order, which is shown in part and cannot be changed here. */
const Recipient = ({ email }: { email: string | undefined }) => (
  <p class="recipient">{saying(words.recipient, { email: <span class="address">{email}</span> })}</p>
)

const NotLive = () => (
  <div class="stack">
    <h2 tabIndex={-1}>{words.notLive}</h2>
    <Notice title={words.comeBackLater} icon="clock" />
  </div>
)
