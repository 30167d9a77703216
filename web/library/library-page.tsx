import { useEffect, useMemo } from 'preact/hooks'
import { sentTo } from '../ui/code-form.tsx'
import { CodeStep } from '../ui/code-step.tsx'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { useStore } from '../ui/store.ts'
import { AskStep } from './ask-step.tsx'
import { openLibrary, type Library, type LibraryState } from './library.ts'
import { Purchases } from './purchases.tsx'

const TITLES = { opening: 'Your library', address: 'Your library', code: 'Check your mail', done: 'Your library' }

/** All purchases of a mailbox on this service, from all sellers. Only a person who can read the mailbox sees them. */
export function LibraryPage() {
  const library = useMemo(openLibrary, [])
  const state = useStore(library)
  const { step } = state
  const title = TITLES[step]
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  if (step === 'done') return <Purchases library={library} state={state} />
  return (
    <div class="asking stack">
      <h1>{title}</h1>
      <Lead state={state} />
      <LastMessage library={library} state={state} />
      <Step library={library} state={state} />
    </div>
  )
}

function Lead({ state: { step, awaited } }: { state: LibraryState }) {
  if (step === 'opening') return null
  if (step === 'code' && awaited)
    return (
      <p class="lead">
        {sentTo}
        <span class="address">{awaited.email}</span>. If nothing was ever bought with this address, the mail says so.
      </p>
    )
  return (
    <p class="lead">
      Everything you have bought here, from every seller, with its files. You need no account: we send a code to the
      e-mail you bought with.
    </p>
  )
}

/** The last refusal or success. */
function LastMessage({ library, state: { message, tries, step } }: { library: Library; state: LibraryState }) {
  if (!message) return null
  return (
    <Notice
      key={tries}
      {...(message.calm ? { icon: 'lock' as const } : { tone: 'alarm' as const })}
      title={message.title}
      role="alert"
    >
      {message.text && <p>{message.text}</p>}
      {step === 'opening' && (
        <button type="button" class="link" onClick={() => void library.load()}>
          Try again
        </button>
      )}
    </Notice>
  )
}

function Step({ library, state }: { library: Library; state: LibraryState }) {
  const { step, awaited, message } = state
  if (step === 'opening') return message ? null : <OneMoment />
  if (step === 'code' && awaited)
    return (
      <CodeStep
        code={library}
        awaited={awaited}
        state={state}
        action="Show what I bought"
        change="Use another address"
      />
    )
  return <AskStep library={library} state={state} />
}
