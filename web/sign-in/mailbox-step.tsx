import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { providerUrl } from '../ui/auth-api.ts'
import { providerName } from '../ui/auth-words.ts'
import { Submit } from '../ui/button.tsx'
import { emailFault, PasswordField, TextField } from '../ui/text-field.tsx'
import { readAddress } from './address.ts'
import type { SignIn } from './sign-in.ts'
import type { SignInState, Way } from './state.ts'

interface MailboxStepProps {
  signIn: SignIn
  state: SignInState
}

/** The mailbox, and one choice: a code, or the password. */
export function MailboxStep({ signIn, state }: MailboxStepProps) {
  const { email, way, busy, message, tries } = state
  const [password, setPassword] = useState('')
  const [faults, setFaults] = useState<{ email?: string | undefined; password?: string | undefined }>({})
  const [pressed, setPressed] = useState(0)
  const withPassword = way === 'password'
  const form = useRef<HTMLFormElement>(null)
  useFirstFocus(form, tries)
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const wrong = {
      email: emailFault(email),
      password: withPassword && !password ? 'Please enter your password.' : undefined,
    }
    setFaults(wrong)
    if (wrong.email || wrong.password) return
    void (withPassword ? signIn.enterPassword(password) : signIn.sendCode())
  }
  const choose = (chosen: Way | 'forgot') => {
    if (chosen === 'forgot') signIn.forget()
    else signIn.choose(chosen)
    setFaults({})
    // Moves the focus to the next field to fill in.
    const next = !email ? '#email' : chosen === 'password' ? '#password' : '.main'
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>(next)?.focus())
  }
  return (
    <>
      <form class="stack" noValidate ref={form} onSubmit={submit}>
        <TextField
          id="email"
          label="E-mail"
          value={email}
          onValue={(value) => {
            signIn.type(value)
            setFaults({ ...faults, email: undefined })
          }}
          fault={faults.email}
          tries={pressed}
          input={EMAIL_INPUT}
        />
        {withPassword && (
          <PasswordField
            kind="current-password"
            id="password"
            label="Password"
            value={password}
            onValue={(value) => {
              setPassword(value)
              setFaults({ ...faults, password: undefined })
            }}
            fault={faults.email ? undefined : faults.password}
            tries={pressed}
          />
        )}
        <Submit busy={busy}>{withPassword ? 'Sign in' : 'Send me a code'}</Submit>
        <OtherWays way={way} onChoose={choose} />
      </form>
      {state.idp && <ProviderLink again={state.again} />}
      <output class="unseen">{message ? '' : busy}</output>
    </>
  )
}

const EMAIL_INPUT = {
  type: 'email',
  inputMode: 'email',
  autoComplete: 'username',
  maxLength: 254,
  required: true,
  placeholder: 'you@example.com',
} as const

/** `tries` grows with each refusal. */
function useFirstFocus(form: RefObject<HTMLFormElement | null>, tries: number): void {
  // A desk has a keyboard, so the field takes the focus. On a phone the keyboard would cover the page before it is
  // read.
  useEffect(() => {
    const empty = [...(form.current?.querySelectorAll('input') ?? [])].find((one) => !one.value)
    if (matchMedia('(pointer: fine)').matches) empty?.focus()
  }, [form])
  // After a refusal the seller most likely types the password again.
  useEffect(() => {
    if (tries > 0) form.current?.querySelector<HTMLElement>('#password')?.focus()
  }, [form, tries])
}

function OtherWays({ way, onChoose }: { way: Way; onChoose: (way: Way | 'forgot') => void }) {
  const link = (to: Way | 'forgot', label: string) => (
    <button type="button" class="link" onClick={() => onChoose(to)}>
      {label}
    </button>
  )
  return (
    <div class="others">
      {way === 'code' && link('password', 'Use a password instead')}
      {way === 'password' && link('code', 'Send me a code instead')}
      {way === 'password' && link('forgot', 'Password forgotten?')}
    </div>
  )
}

const ProviderLink = ({ again }: { again: boolean }) => (
  <div class="stack provider">
    <p class="or small soft">or</p>
    <a class="button" href={`${providerUrl(readAddress().returnTo)}${again ? '&again=1' : ''}`}>
      Continue with {providerName}
    </a>
    {again && <p class="small soft">If you are not asked to sign in there, use a code or your password instead.</p>}
  </div>
)
