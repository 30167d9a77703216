import { useEffect, useMemo } from 'preact/hooks'
import { CodeForm, sentTo } from '../ui/code-form.tsx'
import { Notice } from '../ui/notice.tsx'
import { useStore } from '../ui/store.ts'
import { AskStep } from './ask-step.tsx'
import { openCharge } from './charge.ts'
import { Found } from './found.tsx'

/** Finds the order behind a line on a bank statement. Only a person who can read the mailbox of the order sees it. */
export function ChargePage() {
  const charge = useMemo(openCharge, [])
  const state = useStore(charge)
  const { step, said, tries, asked, found, busy, fault } = state
  const title = step === 'code' ? 'Check your mail' : 'What is this charge?'
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  if (step === 'found' && found && asked) return <Found found={found} email={asked.email} onAgain={charge.change} />
  return (
    <div class="asking stack">
      <h1>{title}</h1>
      {step === 'code' && asked ? (
        <p class="lead">
          {sentTo}
          <span class="address">{asked.email}</span>. If nothing was ever bought with this address, the mail says so.
        </p>
      ) : (
        <p class="lead">
          A line on your bank statement that you do not know? Tell us what it says and the e-mail you may have bought
          with. We send a code there, and then show you the order.
        </p>
      )}
      {said && (
        <Notice key={tries} tone="alarm" title={said.title} role="alert">
          {said.text && <p>{said.text}</p>}
        </Notice>
      )}
      {step === 'code' && asked ? (
        <CodeForm
          email={asked.email}
          sent={asked.sent}
          resendAt={asked.resendAt}
          busy={busy}
          fault={fault}
          tries={tries}
          action="Show the order"
          onCode={(code) => void charge.enterCode(code)}
          onResend={() => void charge.resendCode()}
        >
          <button type="button" class="link" onClick={charge.change}>
            Change what you entered
          </button>
        </CodeForm>
      ) : (
        <AskStep charge={charge} state={state} />
      )}
    </div>
  )
}
