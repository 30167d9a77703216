import { useRef, useState } from 'preact/hooks'
import { BetterEmail, useHeldEmail } from '../ui/better-email.tsx'
import { Submit } from '../ui/button.tsx'
import { EmailField, looksLikeEmail } from '../ui/email-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { WAYS, sentence, waysIn } from '../ui/words.ts'
import { ApiError, type Wish } from '../ui/api.ts'
import { useConsents } from './consent-part.tsx'
import type { StepProps } from './step-props.ts'
import { useOfferPart, wishInAddress } from './use-offer-part.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

/** Step one: the address for the files. It creates the order, so that the buyer has its number before paying. */
export function ContactStep({ product, checkout, state }: StepProps) {
  const [email, setEmail] = useState(() => state.kept?.email ?? typedBefore('email'))
  const [left, setLeft] = useState(false)
  const [tries, setTries] = useState(0)
  const [fault, setFault] = useState<string>()
  const [held, setHeld] = useState(false)
  const isHeld = useHeldEmail()
  const consents = useConsents(product)
  const press = usePress(checkout.letGo)
  const { Part, waits, failed } = useOfferPart(product)
  const readerRef = useRef<(() => Promise<Wish | undefined>) | undefined>(undefined)
  // Typing forgets the kept order, and the fields must not change while the buyer types.
  const [wish] = useState(() => state.kept?.wish ?? wishInAddress())
  if (!product.payments.live && product.amount > 0) return <NotLive />

  const { trouble, busy, offer } = state
  const isFree = offer ? offer.listMinor === offer.offMinor : product.free
  const refused = trouble instanceof ApiError && trouble.code === 'validation_failed'
  const refusedFault = refused && email.trim() === state.kept?.email ? words.checkAddress : undefined
  const submit = async (event: Event) => {
    event.preventDefault()
    if (waits || press.busy) return
    setTries(tries + 1)
    setLeft(true)
    const wrong = faultOf(email)
    setFault(wrong)
    if (wrong || !consents.check()) return
    await press.run(async (isCurrent) => {
      const hold = await isHeld(email)
      if (!isCurrent()) return
      setHeld(hold)
      if (hold) return
      const asked = readerRef.current && (await readerRef.current())
      if (isCurrent() && (asked || !readerRef.current)) void checkout.create(email, consents.add(asked))
    })
  }
  const change = (value: string) => {
    setEmail(value)
    setFault(undefined)
    setHeld(false)
    press.takeBack()
    // The suggestion appears when the buyer leaves the field, not while they type.
    setLeft(false)
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)} onFocusOut={() => setLeft(true)}>
      <h2 tabIndex={-1}>{words.yourEmail}</h2>
      {trouble && !refused ? <NotMade trouble={trouble} /> : null}
      <EmailField value={email} onValue={change} hint={words.emailHint} fault={fault ?? refusedFault} tries={tries}>
        <BetterEmail value={email} left={left || fault !== undefined} onValue={change} held={held} />
      </EmailField>
      {waits && <div class="blank short" />}
      {Part && (
        <Part product={product} wish={wish} onType={press.takeBack} onOffer={checkout.offer} readerRef={readerRef} />
      )}
      {failed && <Notice tone="alarm" title={words.partMissing} role="alert" />}
      {consents.part}
      <Submit busy={busy ? words.creating : press.busy ? shared.oneMoment : undefined}>
        {isFree ? words.getIt : words.toPayment}
      </Submit>
      {!isFree && <AcceptedRails product={product} />}
    </form>
  )
}

const NotMade = ({ trouble }: { trouble: unknown }) => (
  <Notice tone="alarm" title={sentence(trouble)} role="alert">
    {!navigator.onLine && <p>{words.notCreatedYet}</p>}
  </Notice>
)

function faultOf(email: string): string | undefined {
  if (looksLikeEmail(email)) return undefined
  return email.trim() ? shared.emailIncomplete : shared.emailMissing
}

function AcceptedRails({ product: { payments, rails } }: Pick<StepProps, 'product'>) {
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

/**
 * One press of the button, up to the order. The page may have to load or ask for something first. Typing meanwhile
 * takes the press back, because the press was about the earlier text.
 */
function usePress(letGo: () => void) {
  const currentRef = useRef<object | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const show = (press: object | undefined) => {
    currentRef.current = press
    setBusy(press !== undefined)
  }
  return {
    busy,
    async run(work: (isCurrent: () => boolean) => Promise<void>) {
      if (currentRef.current) return
      const press = {}
      show(press)
      const isCurrent = () => currentRef.current === press
      await work(isCurrent).finally(() => isCurrent() && show(undefined))
    },
    takeBack() {
      show(undefined)
      letGo()
    },
  }
}

export const NotLive = () => (
  <div class="stack">
    <h2 tabIndex={-1}>{words.notLive}</h2>
    <Notice title={words.notLiveText} icon="clock" />
  </div>
)
