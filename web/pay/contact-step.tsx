import { useState } from 'preact/hooks'
import { BetterEmail } from '../ui/better-email.tsx'
import { Submit } from '../ui/button.tsx'
import { EmailField, looksLikeEmail } from '../ui/email-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { RAIL_NAMES, sentence } from '../ui/words.ts'
import { Trouble } from '../ui/api.ts'
import type { StepProps } from './counter.tsx'

/** Step one: where the files go. Creates the order, so that the buyer has its number before paying. */
export function ContactStep({ product, checkout, state }: StepProps) {
  const [email, setEmail] = useState(state.kept?.email ?? '')
  const [left, setLeft] = useState(false)
  const [tries, setTries] = useState(0)
  const [fault, setFault] = useState<string>()
  if (!product.payments.live) return <NotLive />

  const { trouble, busy } = state
  const refused = trouble instanceof Trouble && trouble.code === 'validation_failed'
  const refusedFault = refused && email.trim() === state.kept?.email ? 'Please check this address.' : undefined
  const submit = (event: Event) => {
    event.preventDefault()
    setTries(tries + 1)
    setLeft(true)
    const wrong = looksLikeEmail(email)
      ? undefined
      : email.trim()
        ? 'This is not a complete e-mail address.'
        : 'Please enter your e-mail.'
    setFault(wrong)
    if (!wrong) void checkout.create(email)
  }
  const change = (value: string) => {
    setEmail(value)
    setFault(undefined)
    // While typing nobody is corrected; the hint comes when the field is left.
    setLeft(false)
  }
  return (
    <form class="stack" noValidate onSubmit={submit} onFocusOut={() => setLeft(true)}>
      <h2 tabIndex={-1}>Where should we send it?</h2>
      {trouble && !refused ? <Notice tone="alarm" title={sentence(trouble)} role="alert" /> : null}
      <EmailField
        value={email}
        onValue={change}
        hint="Your files and the receipt go to this address."
        fault={fault ?? refusedFault}
        tries={tries}
      >
        <BetterEmail email={email} left={left || fault !== undefined} onChange={change} />
      </EmailField>
      <Submit busy={busy && 'Creating your order…'}>Continue to payment</Submit>
      <div class="accepted">
        <p class="soft small">You see your order number before you pay. Then choose how:</p>
        <ul class="soft small">
          {product.rails.map((rail) => (
            <li key={rail}>{RAIL_NAMES[rail]}</li>
          ))}
        </ul>
      </div>
    </form>
  )
}

export const NotLive = () => (
  <div class="stack">
    <h2 tabIndex={-1}>Not open for payments yet</h2>
    <Notice title="Card payments are not switched on here yet." icon="clock">
      <p>The seller has to connect a way of paying first. Nothing can be charged; please come back later.</p>
    </Notice>
  </div>
)
