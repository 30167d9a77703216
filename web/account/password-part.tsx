import { useRef, useState } from 'preact/hooks'
import { setPassword, type Seller } from '../ui/auth-api.ts'
import { PasswordField } from '../ui/text-field.tsx'
import { SIGN_IN_AGAIN, type Account } from './account.ts'
import { useAction } from '../ui/action.ts'
import { Do, Part, Refused, Saved } from './part.tsx'

const SHORTEST = 12

interface PasswordPartProps {
  account: Account
  seller: Seller
  /** Until this moment the service asks for no current password. */
  recentUntil: string
}

export function PasswordPart({ account, seller, recentUntil }: PasswordPartProps) {
  const isLate = () => Date.now() > Date.parse(recentUntil)
  const [open, setOpen] = useState(location.hash === '#password')
  const [late, setLate] = useState(isLate)
  const [current, setCurrent] = useState('')
  const [fresh, setFresh] = useState('')
  const [fault, setFault] = useState<string>()
  const [pressed, setPressed] = useState(0)
  const action = useAction()
  const opener = useRef<HTMLButtonElement>(null)
  const stale = action.refusedFor('recent_sign_in_required')
  // The service decides, and this clock may be wrong: the field appears as an offer and may stay empty.
  const askCurrent = seller.hasPassword && (late || stale || current !== '')
  const close = () => {
    setOpen(false)
    setCurrent('')
    setFresh('')
    requestAnimationFrame(() => opener.current?.focus())
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const wrong = Array.from(fresh).length < SHORTEST ? `Please use at least ${SHORTEST} characters.` : undefined
    setFault(wrong)
    if (wrong) return
    void action.run(async () => {
      await account.asSeller(() => setPassword(fresh, current || undefined))
      close()
      await account.changed({ ...seller, hasPassword: true })
      return seller.hasPassword
        ? 'Your password is changed. Other sessions have ended.'
        : 'Your password is set. Other sessions have ended.'
    })
  }
  const wrongCurrent = action.refusedFor('wrong_password')
  const tooCommon = action.refusedFor('password_too_common')
  return (
    <Part
      id="password"
      title="Password"
      about="You do not need one: a code always works. With one you can sign in without waiting for a mail."
    >
      {open ? (
        <form class="stack" noValidate onSubmit={submit}>
          <input type="email" name="username" autoComplete="username" value={seller.email} readOnly hidden />
          {askCurrent && (
            <PasswordField
              kind="current-password"
              id="current-password"
              label="Current password"
              hint={
                <>
                  Forgotten? <a href={`${SIGN_IN_AGAIN}&forgot=1`}>Sign in again by code</a>, and for ten minutes it is
                  not needed.
                </>
              }
              value={current}
              onValue={setCurrent}
              fault={wrongCurrent ? 'This is not your current password.' : undefined}
              tries={action.tries}
            />
          )}
          <PasswordField
            kind="new-password"
            id="new-password"
            label="New password"
            hint={`${SHORTEST} to 128 characters, whichever you like. A few words that do not belong together are strong and easy to keep. Your other sessions end.`}
            value={fresh}
            onValue={(value) => {
              setFresh(value)
              setFault(undefined)
            }}
            fault={
              fault ??
              (tooCommon
                ? 'This password is among the first that others would try. Please take another one.'
                : undefined)
            }
            tries={pressed + action.tries}
            focus={!askCurrent}
          />
          {!wrongCurrent && !tooCommon && <Refused action={action} />}
          <div class="row">
            <Do submit busy={action.busy}>
              {seller.hasPassword ? 'Change the password' : 'Set the password'}
            </Do>
            <button
              type="button"
              class="link"
              onClick={() => {
                action.clear()
                close()
              }}
            >
              Cancel
            </button>
          </div>
        </form>
      ) : (
        <>
          <p>{seller.hasPassword ? 'You have a password.' : 'You have no password.'}</p>
          <div class="row">
            <button
              type="button"
              class="button"
              ref={opener}
              onClick={() => {
                setLate(isLate())
                setOpen(true)
              }}
            >
              {seller.hasPassword ? 'Change the password' : 'Set a password'}
            </button>
            <Saved>{action.said}</Saved>
          </div>
        </>
      )}
    </Part>
  )
}
