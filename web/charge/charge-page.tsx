import { useEffect, useMemo } from 'preact/hooks'
import { sentTo } from '../ui/code-form.tsx'
import { CodeStep } from '../ui/code-step.tsx'
import { Notice } from '../ui/notice.tsx'
import { useStore } from '../ui/store.ts'
import { AskStep } from './ask-step.tsx'
import { openCharge } from './charge.ts'
import { Found } from './found.tsx'

/** Finds the order behind a line on a bank statement. Only a person who can read the mailbox of the order sees it. */
export function ChargePage() {
  const charge = useMemo(openCharge, [])
  const state = useStore(charge)
  const { step, message, tries, found } = state
  const awaited = step === 'code' ? state.awaited : undefined
  const title = step === 'code' ? 'Check your mail' : 'What is this charge?'
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  if (step === 'done' && found) return <Found found={found} email={found.email} onAgain={charge.change} />
  return (
    <div class="asking stack">
      <h1>{title}</h1>
      {awaited ? (
        <p class="lead">
          {sentTo}
          <span class="address">{awaited.email}</span>. If nothing was ever bought with this address, the mail says so.
        </p>
      ) : (
        <p class="lead">
          A line on your bank statement that you do not know? Tell us what it says and the e-mail you may have bought
          with. We send a code there, and then show you the order.
        </p>
      )}
      {message && (
        <Notice key={tries} tone="alarm" title={message.title} role="alert">
          {message.text && <p>{message.text}</p>}
        </Notice>
      )}
      {awaited ? (
        <CodeStep
          code={charge}
          awaited={awaited}
          state={state}
          action="Show the order"
          change="Change what you entered"
        />
      ) : (
        <AskStep charge={charge} state={state} />
      )}
    </div>
  )
}
