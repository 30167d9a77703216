import { useRef, useState } from 'preact/hooks'
import { askNewMailbox, enterNewMailboxCode, type Seller } from '../ui/auth-api.ts'
import { CodeForm } from '../ui/code-form.tsx'
import { emailFault, TextField } from '../ui/text-field.tsx'
import { useAction, type Action } from '../ui/action.ts'
import type { Account } from './account.ts'
import { saveChange, savedChange, type MailboxChange } from './mailbox-change.ts'
import { Do, Part, Refused, Saved } from './part.tsx'

/** The seller proves the account by the mailbox, so a new mailbox must answer before it replaces the old one. */
export function MailboxPart({ account, seller, sessionId }: { account: Account; seller: Seller; sessionId: string }) {
  const [change, setChange] = useState<MailboxChange | undefined>(() => savedChange(seller.id, sessionId))
  const [resent, setResent] = useState(0)
  const action = useAction()
  const opener = useRef<HTMLButtonElement>(null)
  const update = (to: MailboxChange | undefined) => {
    setChange(to)
    saveChange(to)
  }
  const type = (email: string) => update({ sellerId: seller.id, email })
  const ask = (email: string) =>
    action.run(async () => {
      const { resendAfter } = await account.asSeller(() => askNewMailbox(email))
      if (change?.resendAt !== undefined) setResent((times) => times + 1)
      update({ sellerId: seller.id, email, sessionId, sentAt: Date.now(), resendAt: Date.now() + resendAfter * 1000 })
      return ''
    })
  const stop = () => {
    update(undefined)
    setResent(0)
    action.clear()
    requestAnimationFrame(() => opener.current?.focus())
  }
  const enter = (code: string) =>
    action.run(async () => {
      const { seller: changed } = await account.asSeller(() => enterNewMailboxCode(code))
      stop()
      await account.changed(changed)
      return `Done. Your address is ${changed.email} now, and your other sessions have ended.`
    })
  return (
    <Part
      id="mailbox"
      title="E-mail address"
      about="You sign in with it, and our mails go there. A new one is confirmed by a code first, and the old one is told."
    >
      <p class="address">{seller.email}</p>
      {change?.resendAt !== undefined ? (
        <NewMailboxCode
          email={change.email}
          resendAt={change.resendAt}
          resent={resent}
          action={action}
          onCode={(code) => void enter(code)}
          onResend={() => void ask(change.email)}
          onStop={stop}
        />
      ) : change ? (
        <NewAddress
          present={seller.email}
          email={change.email}
          action={action}
          onType={type}
          onAsk={(email) => void ask(email)}
          onStop={stop}
        />
      ) : (
        <div class="row">
          <button type="button" class="button" ref={opener} onClick={() => type('')}>
            Change the address
          </button>
          <Saved>{action.said}</Saved>
        </div>
      )}
    </Part>
  )
}

interface NewAddressProps {
  /** The address that the account has. */
  present: string
  /** The typed address. */
  email: string
  action: Action
  onType: (email: string) => void
  onAsk: (email: string) => void
  onStop: () => void
}

function NewAddress({ present, email, action, onType, onAsk, onStop }: NewAddressProps) {
  const [fault, setFault] = useState<string>()
  const [pressed, setPressed] = useState(0)
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const wanted = email.trim().toLowerCase()
    const wrong = wanted === present ? 'This is your address already.' : emailFault(wanted)
    setFault(wrong)
    if (!wrong) onAsk(wanted)
  }
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <TextField
        id="new-email"
        label="New e-mail address"
        hint="Once it is confirmed, your other sessions end."
        value={email}
        onValue={(text) => {
          onType(text)
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
        <button type="button" class="link" onClick={onStop}>
          Cancel
        </button>
      </div>
    </form>
  )
}

interface NewMailboxCodeProps {
  email: string
  resendAt: number
  /** The number of codes sent after the first. */
  resent: number
  action: Action
  onCode: (code: string) => void
  onResend: () => void
  onStop: () => void
}

function NewMailboxCode({ email, resendAt, resent, action, onCode, onResend, onStop }: NewMailboxCodeProps) {
  const isWrong = action.refusedFor('invalid_code')
  return (
    <>
      <p>
        We sent a code to <span class="address">{email}</span>. Your address does not change until you enter the code.
      </p>
      {!isWrong && <Refused action={action} />}
      <CodeForm
        email={email}
        sent={resent}
        resendAt={resendAt}
        busy={action.busy ? 'Checking the code…' : undefined}
        fault={isWrong ? 'This code does not work. Check the latest mail, or ask for a new code.' : undefined}
        tries={isWrong ? action.tries : 0}
        action="Change the address"
        onCode={onCode}
        onResend={onResend}
      >
        <button type="button" class="link" onClick={onStop}>
          Keep the address I have
        </button>
      </CodeForm>
    </>
  )
}
