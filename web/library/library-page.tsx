import { useEffect, useMemo } from 'preact/hooks'
import { CodeStep } from '../ui/code-step.tsx'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { useStore } from '../ui/store.ts'
import { AskStep } from './ask-step.tsx'
import { openLibrary, type Library, type LibraryState } from './library.ts'
import { Purchases } from './purchases.tsx'
import { saying, wordsOf } from '../ui/language.ts'

const words = wordsOf('library')
const codeWords = wordsOf('code')

const TITLES = { opening: words.title, address: words.title, code: codeWords.checkMail, done: words.title }

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
    return <p class="lead">{saying(codeWords.sentTo, { email: <span class="address">{awaited.email}</span> })}</p>
  return <p class="lead">{words.lead}</p>
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
          {wordsOf('ui').tryAgain}
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
      <CodeStep code={library} awaited={awaited} state={state} action={words.showBought} change={words.otherAddress} />
    )
  return <AskStep library={library} state={state} />
}
