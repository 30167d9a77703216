import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { Notice } from '../../ui/notice.tsx'
import { RefusedByAge } from '../developers/refused-by-age.tsx'
import { useLoad } from '../load.ts'
import { Shown } from '../parts.tsx'
import { AccountForm } from './account-form.tsx'
import { type PayoutAccount, getAccount, openAccount } from './payouts-api.ts'

const STATES: Record<PayoutAccount['state'], [label: string, tone: 'good' | 'quiet' | 'bad', text: string]> = {
  none: ['Not opened', 'quiet', 'Buyers pay straight to your own account at the processor, and the processor pays your bank. Open it to begin.'],
  open: ['Not complete', 'quiet', 'The processor does not have all your details yet.'],
  restricted: ['Restricted', 'bad', 'The processor takes no payments for you at the moment.'],
  active: ['Active', 'good', 'The processor takes your payments.'],
} // oxfmt-ignore

const TOLD: typeof STATES = {
  none: ['Not opened', 'quiet', 'Razorpay passes the price of each sale on to an account of yours, without the fee, and pays it to your bank. It only sells products in rupees. Tell it who you are to begin.'],
  open: ['Not complete', 'quiet', 'Razorpay needs something more from you.'],
  restricted: ['Waiting', 'bad', 'Razorpay passes no money on to you at the moment.'],
  active: ['Active', 'good', 'Razorpay passes the price of each sale on to you, without the fee.'],
} // oxfmt-ignore

/** The seller’s own account at the processor: its state, the missing details, and the way there. */
export function AccountPart({ isTold }: { isTold: boolean }) {
  const account = useLoad('account', getAccount)
  return (
    <section class="stack" aria-labelledby="account">
      <h2 id="account">Your account at the processor</h2>
      <Shown of={account}>
        {(value) => (isTold ? <Told account={value} onChange={account.again} /> : <Standing account={value} />)}
      </Shown>
    </section>
  )
}

/** Where the seller tells this service, which passes it on. */
function Told({ account, onChange }: { account: PayoutAccount; onChange: () => void }) {
  const [open, setOpen] = useState(false)
  const [said, setSaid] = useState('')
  const { state } = account
  return (
    <>
      <output class="saved">{said}</output>
      <How account={account} texts={TOLD}>
        {!open && (
          <div class="row">
            <button
              type="button"
              class={`button ${state === 'none' || state === 'open' ? 'main short' : ''}`}
              onClick={() => {
                setSaid('')
                setOpen(true)
              }}
            >
              {state === 'none' ? 'Open my account' : 'Send my details again'}
            </button>
          </div>
        )}
      </How>
      {open && (
        <AccountForm
          onCancel={() => setOpen(false)}
          onSaved={() => {
            setOpen(false)
            setSaid(
              'Your details are sent. Of a correction Razorpay takes only what it asks for: the rest stays as it was there, also the bank account.',
            )
            onChange()
          }}
        />
      )}
    </>
  )
}

function Standing({ account }: { account: PayoutAccount }) {
  const action = useAction()
  const { state } = account
  const open = () =>
    void action.run(async () => {
      location.assign((await openAccount()).url)
      return ''
    })
  return (
    <How account={account} texts={STATES}>
      <RefusedByAge action={action} />
      <div class="row">
        <button
          type="button"
          class={`button ${state === 'active' ? '' : 'main short'}`}
          aria-disabled={action.busy ? 'true' : undefined}
          onClick={open}
        >
          {action.busy && <span class="spinner" aria-hidden="true" />}
          {state === 'none' ? 'Open my account' : 'Continue at the processor'}
        </button>
      </div>
    </How>
  )
}

interface HowProps {
  account: PayoutAccount
  texts: typeof STATES
  children: ComponentChildren
}

function How({ account: { state, missing, paysOut, blocksSales }, texts, children }: HowProps) {
  const [label, tone, text] = texts[state]
  return (
    <>
      {blocksSales && (
        <Notice tone="alarm" title="Your products are not for sale yet">
          <p>They go on sale as soon as this account is active.</p>
        </Notice>
      )}
      <div class="panel stack">
        <p>
          <span class={`tag ${tone}`}>{label}</span>
        </p>
        <p>
          {text} {state === 'active' && (paysOut ? 'It pays your bank by itself.' : 'It does not pay your bank yet.')}
        </p>
        {missing.length > 0 && (
          <>
            <p>It still needs:</p>
            <ul class="bullets">
              {missing.map((one) => (
                <li key={one}>{one}</li>
              ))}
            </ul>
          </>
        )}
        {children}
      </div>
    </>
  )
}
