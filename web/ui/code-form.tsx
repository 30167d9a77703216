import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Submit } from './button.tsx'
import { Notice } from './notice.tsx'
import { pageData } from './page-data.ts'
import { TextField, digitsIn } from './text-field.tsx'
import { saying, wordsOf } from './language.ts'

const words = wordsOf('code')

const DIGITS = 6
const isOutbox = pageData.mode?.outbox === true

interface CodeFormProps {
  email: string
  /** The number of codes sent since the form appeared, after the first. */
  sent: number
  /** When the buyer or seller may ask for another code. */
  resendAt: number
  busy: string | undefined
  fault: string | undefined
  tries: number
  /** The label of the button. */
  action: string
  onCode: (code: string) => void
  onResend: () => void
  children?: ComponentChildren
}

/** One field for the six digits of a mailed code. It sends itself after the last digit. */
export function CodeForm(props: CodeFormProps) {
  const { email, sent, resendAt, busy, fault, tries, action, onCode, onResend, children } = props
  const [code, setCode] = useState('')
  const [missing, setMissing] = useState(0)
  const seconds = useSecondsUntil(resendAt)
  // A wrong code is of no more use, and neither is one typed before a newer one was sent.
  // A code that the service could not check is still good.
  useEffect(() => {
    if (fault) setCode('')
  }, [fault, tries])
  useEffect(() => setCode(''), [sent])
  const change = (text: string) => {
    const digits = digitsIn(text).slice(0, DIGITS)
    setMissing(0)
    setCode(digits)
    if (digits.length === DIGITS && digits !== code && !busy) onCode(digits)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy) return
    if (code.length === DIGITS) onCode(code)
    else setMissing(missing + 1)
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      {isOutbox && (
        <Notice tone="trial" title="Mails are not sent from here.">
          <p>
            No mail server is set, so the code waits in the{' '}
            <a href={`/outbox/?${new URLSearchParams({ to: email }).toString()}`} target="_blank" rel="noopener">
              outbox
            </a>
            .
          </p>
        </Notice>
      )}
      <TextField
        key={sent}
        id="code"
        label={words.label}
        hint={words.hint}
        value={code}
        onValue={change}
        fault={missing ? words.short : fault}
        tries={tries + missing}
        focus
        input={{ class: 'digits', inputMode: 'numeric', autoComplete: 'one-time-code', maxLength: 40, required: true }}
      />
      <Submit busy={busy}>{action}</Submit>
      <div class="resend small">
        <p class="soft">
          {!isOutbox && `${words.noMail} `}
          {seconds > 0 && saying(words.newIn, { time: <span class="time">{clock(seconds)}</span> })}
        </p>
        {seconds === 0 && (
          <button type="button" class="link" onClick={onResend}>
            {words.sendNew}
          </button>
        )}
        {children}
      </div>
      <output class="small sent">{sent > 0 && words.sentNew}</output>
      <output class="unseen">{seconds === 0 && words.newNow}</output>
    </form>
  )
}

function useSecondsUntil(at: number): number {
  const [seconds, setSeconds] = useState(() => secondsUntil(at))
  useEffect(() => {
    setSeconds(secondsUntil(at))
    const timer = setInterval(() => {
      setSeconds(secondsUntil(at))
      if (secondsUntil(at) === 0) clearInterval(timer)
    }, 1000)
    return () => clearInterval(timer)
  }, [at])
  return seconds
}

const secondsUntil = (at: number): number => Math.max(0, Math.ceil((at - Date.now()) / 1000))
const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
