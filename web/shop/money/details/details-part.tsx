import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/action.ts'
import { moment } from '../../../ui/format.ts'
import { Ask } from '../../dialog.tsx'
import { focusSection } from '../../developers/section.tsx'
import type { Loaded } from '../../load.ts'
import { Shown, SignInAgain } from '../../parts.tsx'
import { signInAgain } from '../../session.ts'
import { removeDetails, type PayoutDetails } from '../payouts-api.ts'
import { DetailsForm, chosenBefore } from './details-form.tsx'
import { KIND_NAMES } from './typed-details.ts'

interface DetailsPartProps {
  details: Loaded<{ items: PayoutDetails[] }>
  /** The currencies in which the seller has money. */
  currencies: string[]
  /** After a change, the next payout is another. */
  onChange: () => void
}

/** Where the seller's money goes, one destination for each currency. */
export function DetailsPart({ details, currencies, onChange }: DetailsPartProps) {
  const [open, setOpen] = useState<string | undefined>(() => chosenBefore()?.currency)
  const [said, setSaid] = useState('')
  const close = () => {
    setOpen(undefined)
    focusSection('payout-details')
  }
  const changed = (words: string) => {
    close()
    setSaid(words)
    details.again()
    onChange()
  }
  return (
    <section class="stack" aria-labelledby="payout-details-title">
      <div class="head">
        <h2 id="payout-details-title" tabIndex={-1}>
          Where your money goes
        </h2>
      </div>
      <output class="saved">{said}</output>
      <Shown of={details}>
        {({ items }) => {
          const missing = currencies.filter((one) => !items.some(({ currency }) => currency === one))
          const isNew = open !== undefined && !items.some(({ currency }) => currency === open)
          return (
            <>
              {items.map((one) =>
                open === one.currency ? (
                  <DetailsForm
                    key={one.currency}
                    currency={one.currency}
                    isSettled
                    onSaved={(saved) => changed(savedWords(saved))}
                    onCancel={close}
                  />
                ) : (
                  <Destination
                    // A changed account is held anew.
                    key={`${one.currency} ${one.payableFrom}`}
                    details={one}
                    onEdit={() => setOpen(one.currency)}
                    onRemoved={() => changed(`The payout details for ${one.currency} are removed.`)}
                  />
                ),
              )}
              {isNew && (
                <DetailsForm
                  key="new"
                  currency={open}
                  isSettled={currencies.includes(open)}
                  onSaved={(saved) => changed(savedWords(saved))}
                  onCancel={close}
                />
              )}
              {open === undefined && (
                <Openers
                  missing={missing}
                  onOpen={(currency) => {
                    setSaid('')
                    setOpen(currency || firstFree(items))
                  }}
                />
              )}
            </>
          )
        }}
      </Shown>
    </section>
  )
}

/** A button for each currency that has no account, or one for any. */
const Openers = ({ missing, onOpen }: { missing: string[]; onOpen: (currency: string) => void }) => (
  <div class="row">
    {(missing.length > 0 ? missing : ['']).map((currency) => (
      <button key={currency} type="button" class="button" onClick={() => onOpen(currency)}>
        {currency ? `Add an account for ${currency}` : 'Add an account'}
      </button>
    ))}
  </div>
)

const firstFree = (items: PayoutDetails[]): string =>
  ['EUR', 'USD', 'INR', 'GBP', 'JPY'].find((code) => !items.some(({ currency }) => currency === code)) ?? 'AED'

/** The same account again is not held anew. */
const savedWords = ({ currency, payableFrom }: PayoutDetails): string =>
  `Saved. Payouts in ${currency} go there${Date.parse(payableFrom) > Date.now() ? ` from ${moment(payableFrom)}` : ''}.`

interface DestinationProps {
  details: PayoutDetails
  onEdit: () => void
  onRemoved: () => void
}

function Destination({ details: { currency, kind, shown, payableFrom }, onEdit, onRemoved }: DestinationProps) {
  const [asks, setAsks] = useState(false)
  const action = useAction()
  const [isHeld] = useState(() => Date.parse(payableFrom) > Date.now())
  const remove = () =>
    void action.run(async () => {
      await removeDetails(currency)
      setAsks(false)
      onRemoved()
      return ''
    })
  return (
    <div class="panel destination">
      <div>
        <h3>{currency}</h3>
        <p class="mono-line">{shown}</p>
        <p class="small soft">
          {KIND_NAMES[kind]}
          {isHeld && `. Payouts are held until ${moment(payableFrom)} because this account is new.`}
        </p>
      </div>
      <div class="row">
        <button type="button" class="button" onClick={onEdit} aria-label={`Change the account for ${currency}`}>
          Change
        </button>
        <button
          type="button"
          class="link"
          aria-label={`Remove the account for ${currency}`}
          onClick={() => {
            action.clear()
            setAsks(true)
          }}
        >
          Remove
        </button>
      </div>
      {asks && (
        <Ask
          title={`Remove the account for ${currency}?`}
          action="Remove"
          busy={action.busy}
          trouble={action.trouble}
          grave
          onYes={remove}
          onNo={() => setAsks(false)}
        >
          <p>
            Your money in {currency} then waits in your balance. A payout that is already approved still goes there.
          </p>
          <SignInAgain action={action} onClick={signInAgain} />
        </Ask>
      )}
    </div>
  )
}
