import { useState } from 'preact/hooks'
import { Trouble } from '../../ui/api.ts'
import { BetterEmail } from '../../ui/better-email.tsx'
import { Refusal } from '../../ui/refusal.tsx'
import { emailFault, TextField } from '../../ui/text-field.tsx'
import { signInAgain } from '../session.ts'
import { explain } from '../words.ts'
import { Choices, Dialog } from '../dialog.tsx'
import { changeEmail, type OrderDetail } from './orders-api.ts'

interface EmailDialogProps {
  order: OrderDetail
  onDone: (email: string) => void
  onClose: () => void
}

/** A mistyped address is put right by whoever reads the right one: the seller names it, its reader confirms it. */
export function EmailDialog({ order, onDone, onClose }: EmailDialogProps) {
  const [email, setEmail] = useState(order.pendingEmail ?? order.email)
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
    try {
      onDone(await changeEmail(order.orderId, email.trim()))
    } catch (refused) {
      setTrouble(refused)
      setBusy(false)
    }
  }
  const said = trouble ? explain(trouble) : undefined
  return (
    <Dialog title="Change the buyer’s address" closable={!busy} onClose={onClose} onSubmit={send}>
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
        <BetterEmail value={email} left={left} onValue={type} />
      </div>
      {said && (
        <Refusal key={tries} title={said.title}>
          {said.text && <p>{said.text}</p>}
          {trouble instanceof Trouble && trouble.code === 'recent_sign_in_required' && (
            <button type="button" class="link" onClick={signInAgain}>
              Sign in again
            </button>
          )}
        </Refusal>
      )}
      <Choices busy={busy ? 'Sending the code…' : undefined} action="Send the code" away="Leave it" onClose={onClose} />
    </Dialog>
  )
}
