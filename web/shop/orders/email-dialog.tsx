import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../ui/api.ts'
import { BetterEmail } from '../../ui/better-email.tsx'
import { Refusal } from '../../ui/refusal.tsx'
import { emailFault, TextField } from '../../ui/text-field.tsx'
import { readTab, writeTab } from '../../ui/tab-storage.ts'
import { DRAFTS } from '../drafts.ts'
import { signInAgain } from '../session.ts'
import { explain } from '../words.ts'
import { Choices, Dialog } from '../dialog.tsx'
import { changeEmail, type OrderDetail } from './orders-api.ts'

interface EmailDialogProps {
  order: OrderDetail
  onDone: (email: string) => void
  onClose: () => void
}

/** Keeps the address that was sent last, because a fresh sign-in leads away from the page and back. */
const typedFor = (orderId: string) => `${DRAFTS}buyer-address:${orderId}`
export const hasTyped = (orderId: string): boolean => readTab<string>(typedFor(orderId)) !== undefined

/** Corrects a mistyped address: the seller names the right one, and its owner confirms it. */
export function EmailDialog({ order, onDone, onClose }: EmailDialogProps) {
  const [email, setEmail] = useState(
    () => readTab<string>(typedFor(order.orderId)) ?? order.pendingEmail ?? order.email,
  )
  // Read once: on a later visit to the order the dialog does not open by itself.
  useEffect(() => writeTab(typedFor(order.orderId), undefined), [order.orderId])
  const [left, setLeft] = useState(order.pendingEmail === undefined)
  const [fault, setFault] = useState<string>()
  const [tries, setTries] = useState(0)
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const type = (text: string) => {
    setEmail(text)
    setFault(undefined)
    setLeft(false)
  }
  const send = async () => {
    if (busy) return
    setTries(tries + 1)
    const same = email.trim().toLowerCase() === order.email.toLowerCase()
    const wrong = emailFault(email) ?? (same ? 'This is the address the order has already.' : undefined)
    setFault(wrong)
    if (wrong) return
    setBusy(true)
    setTrouble(undefined)
    // Kept before it is sent: when the session is over, the answer leads straight to the sign-in page.
    writeTab(typedFor(order.orderId), email.trim())
    try {
      const sent = await changeEmail(order.orderId, email.trim())
      writeTab(typedFor(order.orderId), undefined)
      onDone(sent)
    } catch (refused) {
      if (!needsSignIn(refused)) writeTab(typedFor(order.orderId), undefined)
      setTrouble(refused)
      setBusy(false)
    }
  }
  const leave = () => {
    writeTab(typedFor(order.orderId), undefined)
    onClose()
  }
  return (
    <Dialog title="Change the buyer’s address" closable={!busy} onClose={leave} onSubmit={send}>
      <p class="small">
        The order stands under <span class="address">{order.email}</span>. A code goes to the new address. When its
        reader has entered that code on the order’s page, both addresses open the order, and the old one is asked. The
        order moves when the old one agrees, or after three days in which it can keep the order. If its mailbox does not
        exist, the order moves at once.
      </p>
      <div onFocusOut={() => setLeft(true)}>
        <TextField
          id="new-email"
          label="New address"
          value={email}
          onValue={type}
          fault={fault}
          tries={tries}
          focus
          input={{ type: 'email', inputMode: 'email', autoComplete: 'off', maxLength: 254, required: true }}
        />
        <BetterEmail field="new-email" value={email} left={left} onValue={type} />
      </div>
      {trouble ? <Refused key={tries} trouble={trouble} /> : null}
      <Choices busy={busy ? 'Sending the code…' : undefined} action="Send the code" away="Leave it" onClose={leave} />
    </Dialog>
  )
}

function Refused({ trouble }: { trouble: unknown }) {
  const { title, text } = explain(trouble)
  return (
    <Refusal title={title}>
      {text && <p>{text}</p>}
      {needsSignIn(trouble) && (
        <button type="button" class="link" onClick={signInAgain}>
          Sign in again
        </button>
      )}
    </Refusal>
  )
}

const needsSignIn = (trouble: unknown): boolean =>
  trouble instanceof ApiError && trouble.code === 'recent_sign_in_required'
