import { useRef, useState } from 'preact/hooks'
import { useAction, type Action } from '../ui/action.ts'
import { setPassword, type Seller } from '../ui/auth-api.ts'
import { PasswordField } from '../ui/text-field.tsx'
import { SIGN_IN_AGAIN, type Account } from './account.ts'
import { keepTyped } from './typed.ts'
import { Do, Part, Refused, Saved } from './part.tsx'

const MIN_CHARACTERS = 12

interface PasswordPartProps {
  account: Account
  seller: Seller
  /** Until this moment the service asks for no current password. */
  recentUntil: string
}

export function PasswordPart({ account, seller, recentUntil }: PasswordPartProps) {
  const [open, setOpen] = useState(location.hash === '#password')
  const isLate = () => Date.now() > Date.parse(recentUntil)
  const [late, setLate] = useState(isLate)
  const action = useAction()
  const opener = useRef<HTMLButtonElement>(null)
  const close = () => {
    setOpen(false)
    requestAnimationFrame(() => opener.current?.focus())
  }
  const save = (newPassword: string, currentPassword: string) =>
    action.run(async () => {
      await account.asSeller(() => setPassword(newPassword, currentPassword || undefined))
      close()
      await account.changed({ ...seller, hasPassword: true })
      return seller.hasPassword
        ? 'Your password is changed. Other sessions have ended.'
        : 'Your password is set. Other sessions have ended.'
    })
  return (
    <Part
      id="password"
      title="Password"
      about={
        <>
          You do not need one: a code always works. With one you can sign in without waiting for a mail. API keys keep
          working when it changes: <a href="/shop/#/developers">see your keys</a>.
        </>
      }
    >
      {open ? (
        <PasswordForm
          seller={seller}
          late={late}
          action={action}
          onSave={(newPassword, currentPassword) => void save(newPassword, currentPassword)}
          onCancel={() => {
            action.clear()
            close()
          }}
        />
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

interface PasswordFormProps {
  seller: Seller
  /** The sign-in is too long ago to change the password without the current one. */
  late: boolean
  action: Action
  onSave: (newPassword: string, currentPassword: string) => void
  onCancel: () => void
}

function PasswordForm({ seller, late, action, onSave, onCancel }: PasswordFormProps) {
  const [currentPassword, setCurrentPassword] = useState('')
  const [newPassword, setNewPassword] = useState('')
  const [fault, setFault] = useState<string>()
  const [pressed, setPressed] = useState(0)
  // The service decides, and this clock may be wrong: the field appears as an offer and may stay empty.
  const askCurrent =
    seller.hasPassword && (late || action.refusedFor('recent_sign_in_required') || currentPassword !== '')
  const isWrong = action.refusedFor('wrong_password')
  const isTooCommon = action.refusedFor('password_too_common')
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const isShort = Array.from(newPassword).length < MIN_CHARACTERS
    setFault(isShort ? `Please use at least ${MIN_CHARACTERS} characters.` : undefined)
    if (!isShort) onSave(newPassword, currentPassword)
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <input type="email" name="username" autoComplete="username" value={seller.email} readOnly hidden />
      {askCurrent && (
        <PasswordField
          kind="current-password"
          id="current-password"
          label="Current password"
          hint={FORGOTTEN}
          value={currentPassword}
          onValue={setCurrentPassword}
          fault={isWrong ? 'This is not your current password.' : undefined}
          tries={action.tries}
        />
      )}
      <PasswordField
        kind="new-password"
        id="new-password"
        label="New password"
        hint={`${MIN_CHARACTERS} to 128 characters, whichever you like. A few words that do not belong together are strong and easy to keep. Your other sessions end.`}
        value={newPassword}
        onValue={(value) => {
          setNewPassword(value)
          setFault(undefined)
        }}
        fault={fault ?? (isTooCommon ? TOO_COMMON : undefined)}
        tries={pressed + action.tries}
        focus={!askCurrent}
      />
      {!isWrong && !isTooCommon && <Refused action={action} />}
      <div class="row">
        <Do submit busy={action.busy}>
          {seller.hasPassword ? 'Change the password' : 'Set the password'}
        </Do>
        <button type="button" class="link" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}

const FORGOTTEN = (
  <>
    Forgotten?{' '}
    <a href={`${SIGN_IN_AGAIN}&forgot=1`} onClick={keepTyped}>
      Sign in again by code
    </a>
    , and for ten minutes it is not needed.
  </>
)

const TOO_COMMON = 'This password is among the first that others would try. Please take another one.'
