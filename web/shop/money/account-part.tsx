import { useAction } from '../../ui/action.ts'
import { Notice } from '../../ui/notice.tsx'
import { RefusedByAge } from '../developers/refused-by-age.tsx'
import { useLoad } from '../load.ts'
import { Shown } from '../parts.tsx'
import { type PayoutAccount, getAccount, openAccount } from './payouts-api.ts'

const STATES: Record<PayoutAccount['state'], [label: string, tone: 'good' | 'quiet' | 'bad', text: string]> = {
  none: ['Not opened', 'quiet', 'Buyers pay straight to your own account at the processor, and the processor pays your bank. Open it to begin.'],
  open: ['Not complete', 'quiet', 'The processor does not have all your details yet.'],
  restricted: ['Restricted', 'bad', 'The processor takes no payments for you at the moment.'],
  active: ['Active', 'good', 'The processor takes your payments.'],
} // oxfmt-ignore

/** The seller’s own account at the processor: how it stands, what is missing, and the way there. */
export function AccountPart() {
  const account = useLoad('account', getAccount)
  return (
    <section class="stack" aria-labelledby="account">
      <h2 id="account">Your account at the processor</h2>
      <Shown of={account}>{(value) => <Standing account={value} />}</Shown>
    </section>
  )
}

function Standing({ account: { state, missing, paysOut, blocksSales } }: { account: PayoutAccount }) {
  const action = useAction()
  const [label, tone, text] = STATES[state]
  const open = () =>
    void action.run(async () => {
      location.assign((await openAccount()).url)
      return ''
    })
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
      </div>
    </>
  )
}
