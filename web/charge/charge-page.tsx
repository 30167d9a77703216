import { useEffect, useMemo } from 'preact/hooks'
import { CodeStep } from '../ui/code-step.tsx'
import { Notice } from '../ui/notice.tsx'
import { useStore } from '../ui/store.ts'
import { AskStep } from './ask-step.tsx'
import { openCharge } from './charge.ts'
import { Found } from './found.tsx'
import { saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('charge')
const codeWords = wordsOf('code')

/** Finds the order behind a line on a bank statement. Only a person who can read the mailbox of the order sees it. */
export function ChargePage() {
  const charge = useMemo(openCharge, [])
  const state = useStore(charge)
  const { step, message, tries, found } = state
  const awaited = step === 'code' ? state.awaited : undefined
  const title = step === 'code' ? codeWords.checkMail : words.title
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  if (step === 'done' && found) return <Found found={found} email={found.email} onAgain={charge.change} />
  return (
    <div class="asking stack">
      <h1>{title}</h1>
      {awaited ? (
        <p class="lead">{saying(codeWords.sentTo, { email: <span class="address">{awaited.email}</span> })}</p>
      ) : (
        <p class="lead">{words.lead}</p>
      )}
      {message && (
        <Notice key={tries} tone="alarm" title={message.title} role="alert">
          {message.text && <p>{message.text}</p>}
        </Notice>
      )}
      {awaited ? (
        <CodeStep code={charge} awaited={awaited} state={state} action={words.showOrder} change={words.change} />
      ) : (
        <AskStep charge={charge} state={state} />
      )}
    </div>
  )
}
