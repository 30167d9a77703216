import { useRef, useState } from 'preact/hooks'
import { askNewMailbox, enterNewMailboxCode, type Seller } from '../ui/auth-api.ts'
import { CodeForm, sentTo } from '../ui/code-form.tsx'
import { emailFault, TextField } from '../ui/text-field.tsx'
import type { Account } from './account.ts'
import { useAction } from '../ui/action.ts'
import { keep, readKept, type Moving } from './moving.ts'
import { Do, Part, Refused, Saved } from './part.tsx'

/** The seller proves the account by the mailbox, so a new mailbox must answer before it replaces the old one. */
export function MailboxPart({ account, seller }: { account: Account; seller: Seller }) {
  const [moving, setMoving] = useState<Moving | undefined>(() => readKept(seller.id))
  const [fault, setFault] = useState<string>()
  const [pressed, setPressed] = useState(0)
  const [sent, setSent] = useState(0)
  const action = useAction()
  const opener = useRef<HTMLButtonElement>(null)
  const move = (to: Moving | undefined) => {
    setMoving(to)
    keep(to)
  }
  const ask = (email: string) =>
    action.run(async () => {
      const { resendAfter } = await account.asSeller(() => askNewMailbox(email))
      if (moving?.resendAt !== undefined) setSent((times) => times + 1)
      move({ sellerId: seller.id, email, sentAt: Date.now(), resendAt: Date.now() + resendAfter * 1000 })
      return ''
    })
  const stop = () => {
    move(undefined)
    setSent(0)
    action.clear()
    requestAnimationFrame(() => opener.current?.focus())
  }
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const email = moving!.email.trim().toLowerCase()
    const wrong = email === seller.email ? 'This is your address already.' : emailFault(email)
    setFault(wrong)
    if (!wrong) void ask(email)
  }
  const enter = (code: string) =>
    void action.run(async () => {
      const { seller: moved } = await account.asSeller(() => enterNewMailboxCode(code))
      stop()
      await account.changed(moved)
      return `Done. Your address is ${moved.email} now, and your other sessions have ended.`
    })
  const refused = action.refusedFor('invalid_code')
  return (
    <Part
      id="mailbox"
      title="E-mail address"
      about="You sign in with it, and our mails go there. A new one is confirmed by a code first, and the old one is told."
    >
      <p class="address">{seller.email}</p>
      {moving?.resendAt !== undefined ? (
        <>
          <p>
            {sentTo}
            <span class="address">{moving.email}</span>. Your address stays as it is until you enter it.
          </p>
          {!refused && <Refused action={action} />}
          <CodeForm
            email={moving.email}
            sent={sent}
            resendAt={moving.resendAt}
            busy={action.busy ? 'Checking the code…' : undefined}
            fault={refused ? 'This code does not work. Check the latest mail, or ask for a new code.' : undefined}
            tries={refused ? action.tries : 0}
            action="Change the address"
            onCode={enter}
            onResend={() => void ask(moving.email)}
          >
            <button type="button" class="link" onClick={stop}>
              Keep the address I have
            </button>
          </CodeForm>
        </>
      ) : moving ? (
        <form class="stack" noValidate onSubmit={submit}>
          <TextField
            id="new-email"
            label="New e-mail address"
            hint="Once it is confirmed, your other sessions end."
            value={moving.email}
            onValue={(email) => {
              move({ sellerId: seller.id, email })
              setFault(undefined)
              action.clear()
            }}
            fault={fault}
            tries={pressed}
            focus
            input={{ type: 'email', inputMode: 'email', autoComplete: 'email', maxLength: 254, required: true }}
          />
          <Refused action={action} />
          <div class="row">
            <Do submit busy={action.busy}>
              Send a code there
            </Do>
            <button type="button" class="link" onClick={stop}>
              Cancel
            </button>
          </div>
        </form>
      ) : (
        <div class="row">
          <button type="button" class="button" ref={opener} onClick={() => move({ sellerId: seller.id, email: '' })}>
            Change the address
          </button>
          <Saved>{action.said}</Saved>
        </div>
      )}
    </Part>
  )
}
