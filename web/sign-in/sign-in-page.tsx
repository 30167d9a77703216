import { useEffect, useMemo } from 'preact/hooks'
import { providerName } from '../ui/auth-words.ts'
import { CodeStep } from '../ui/code-step.tsx'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { pageData } from '../ui/page-data.ts'
import { useStore } from '../ui/store.ts'
import { MailboxStep } from './mailbox-step.tsx'
import { openSignIn } from './sign-in.ts'
import type { SignInState } from './state.ts'

const isClosed = pageData.signup === 'closed'

/** The three ways to sign in. Each one helps where another fails. */
export function SignInPage() {
  const signIn = useMemo(openSignIn, [])
  const state = useStore(signIn)
  const { step, message, tries } = state
  const awaited = step === 'code' ? state.awaited : undefined
  const title = step === 'code' ? 'Check your mail' : state.again ? 'Sign in again' : 'Sign in'
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  if (step === 'opening') {
    return (
      <div class="door stack">
        <h1>Sign in</h1>
        <OneMoment />
      </div>
    )
  }
  return (
    <div class="door stack">
      <h1>{title}</h1>
      {awaited ? (
        <CodeLead email={awaited.email} fromProvider={state.fromProvider} />
      ) : (
        <p class="lead">{leadOf(state)}</p>
      )}
      {message && (
        <Notice
          key={tries}
          title={message.title}
          role="alert"
          {...(message.calm ? { icon: 'check' as const } : { tone: 'alarm' as const })}
        >
          {message.text && <p>{message.text}</p>}
        </Notice>
      )}
      {awaited ? (
        <CodeStep code={signIn} awaited={awaited} state={state} action="Sign in" change="Change the address" />
      ) : (
        <MailboxStep signIn={signIn} state={state} />
      )}
    </div>
  )
}

/** Names the mailbox to which the code went, and why it is needed. */
function CodeLead({ email, fromProvider }: { email: string; fromProvider: boolean }) {
  return (
    <p class="lead">
      {fromProvider &&
        `${capital(providerName)} does not vouch for this address, or another account there is linked to it already, so please confirm it with a code. `}
      We sent a code to <span class="address">{email}</span>
      {isClosed && !fromProvider ? ', if there is an account with this address. New ones are not opened here.' : '.'}
    </p>
  )
}

function leadOf({ again, forgot, way }: SignInState): string {
  if (forgot) return 'Sign in with a code by e-mail; then choose a new password in your account.'
  if (again) return 'What you are about to change needs a fresh sign-in, so that only you can change it.'
  if (way === 'password') return 'With your e-mail and your password.'
  return isClosed
    ? 'We e-mail you a code. New accounts are not opened here.'
    : 'We e-mail you a code. New here? The same code opens your account.'
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
