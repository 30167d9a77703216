import { useEffect, useMemo } from 'preact/hooks'
import { providerName } from '../ui/auth-words.ts'
import { CodeForm, sentTo } from '../ui/code-form.tsx'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { pageData } from '../ui/page-data.ts'
import { useStore } from '../ui/store.ts'
import { MailboxStep } from './mailbox-step.tsx'
import { openSignIn, type SignInState } from './sign-in.ts'

const isClosed = pageData.signup === 'closed'

/** The three ways to sign in. Each one helps where another fails. */
export function SignInPage() {
  const signIn = useMemo(openSignIn, [])
  const state = useStore(signIn)
  const { step, said, tries, waiting, busy, fault } = state
  const title = step === 'code' ? 'Check your mail' : state.again ? 'Sign in again' : 'Sign in'
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  if (step === 'looking') {
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
      {step === 'code' && waiting ? (
        <p class="lead">
          {beforeAddress(waiting)}
          <span class="address">{waiting.email}</span>
          {isClosed && !waiting.provider
            ? ', if there is an account with this address. New ones are not opened here.'
            : '.'}
        </p>
      ) : (
        <p class="lead">{leadOf(state)}</p>
      )}
      {said && (
        <Notice
          key={tries}
          title={said.title}
          role="alert"
          {...(said.calm ? { icon: 'check' as const } : { tone: 'alarm' as const })}
        >
          {said.text && <p>{said.text}</p>}
        </Notice>
      )}
      {step === 'code' && waiting ? (
        <CodeForm
          email={waiting.email}
          sent={waiting.sent}
          resendAt={waiting.resendAt}
          busy={busy}
          fault={fault}
          tries={tries}
          action="Sign in"
          onCode={(code) => void signIn.enterCode(code)}
          onResend={() => void signIn.resendCode()}
        >
          <button type="button" class="link" onClick={signIn.change}>
            Change the address
          </button>
        </CodeForm>
      ) : (
        <MailboxStep signIn={signIn} state={state} />
      )}
    </div>
  )
}

const beforeAddress = ({ provider }: { provider: boolean }): string =>
  provider
    ? `${capital(providerName)} does not vouch for this address, or another account there is linked to it already, so please confirm it with a code. ${sentTo}`
    : sentTo

function leadOf({ again, forgot, way }: SignInState): string {
  if (forgot) return 'Sign in with a code by e-mail; then choose a new password in your account.'
  if (again) return 'What you are about to change needs a fresh sign-in, so that nobody else can change it.'
  if (way === 'password') return 'With your e-mail and your password.'
  return isClosed
    ? 'We e-mail you a code. New accounts are not opened here.'
    : 'We e-mail you a code. New here? The same code opens your account.'
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
