import { useEffect, useMemo } from 'preact/hooks'
import { CodeForm, sentTo } from '../ui/code-form.tsx'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { useStore } from '../ui/store.ts'
import { AskStep } from './ask-step.tsx'
import { openLibrary, type Library, type LibraryState } from './library.ts'
import { Purchases } from './purchases.tsx'

const TITLES = { opening: 'Your library', ask: 'Your library', code: 'Check your mail', open: 'Your library' }

/** All purchases of a mailbox on this service, from all sellers. Only a person who can read the mailbox sees them. */
export function LibraryPage() {
  const library = useMemo(openLibrary, [])
  const state = useStore(library)
  const { step } = state
  const title = TITLES[step]
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  if (step === 'open') return <Purchases library={library} state={state} />
  return (
    <div class="asking stack">
      <h1>{title}</h1>
      <Lead state={state} />
      <Words library={library} state={state} />
      <Step library={library} state={state} />
    </div>
  )
}

function Lead({ state: { step, asked } }: { state: LibraryState }) {
  if (step === 'opening') return null
  if (step === 'code' && asked)
    return (
      <p class="lead">
        {sentTo}
        <span class="address">{asked.email}</span>. If nothing was ever bought with this address, the mail says so.
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
function Words({ library, state: { said, tries, step } }: { library: Library; state: LibraryState }) {
  if (!said) return null
  return (
    <Notice
      key={tries}
      {...(said.calm ? { icon: 'lock' as const } : { tone: 'alarm' as const })}
      title={said.title}
      role="alert"
    >
      {said.text && <p>{said.text}</p>}
      {step === 'opening' && (
        <button type="button" class="link" onClick={() => void library.load()}>
          Try again
        </button>
      )}
    </Notice>
  )
}

function Step({ library, state }: { library: Library; state: LibraryState }) {
  const { step, asked, busy, fault, tries, said } = state
  if (step === 'opening') return said ? null : <OneMoment />
  if (step === 'code' && asked)
    return (
      <CodeForm
        email={asked.email}
        sent={asked.sent}
        resendAt={asked.resendAt}
        busy={busy}
        fault={fault}
        tries={tries}
        action="Show what I bought"
        onCode={(code) => void library.enterCode(code)}
        onResend={() => void library.resendCode()}
      >
        <button type="button" class="link" onClick={library.change}>
          Use another address
        </button>
      </CodeForm>
    )
  return <AskStep library={library} state={state} />
}
