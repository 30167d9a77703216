import { useState } from 'preact/hooks'
import { BetterEmail } from '../../ui/better-email.tsx'
import { Notice } from '../../ui/notice.tsx'
import { emailFault, TextField } from '../../ui/text-field.tsx'
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
        The order stands under <span class="address">{order.email}</span>. A code goes to the new address. Only when its
        reader has entered that code on the order’s page does the order move there; until then nothing changes. The old
        address is told.
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
        <Notice key={tries} tone="alarm" role="alert" title={said.title}>
          {said.text && <p>{said.text}</p>}
        </Notice>
      )}
      <Choices busy={busy ? 'Sending the code…' : undefined} action="Send the code" away="Leave it" onClose={onClose} />
    </Dialog>
  )
}
