import { useState } from 'preact/hooks'
import { changeSeller, type Seller } from '../ui/auth-api.ts'
import { emailFault, TextField } from '../ui/text-field.tsx'
import type { Account } from './account.ts'
import { useAction } from '../ui/action.ts'
import { Do, Part, Refused, Saved } from './part.tsx'
import { useTyped } from './typed.ts'

/** The address that buyers write to. When it is empty, they see the address that the seller signs in with. */
export function SupportPart({ account, seller }: { account: Account; seller: Seller }) {
  const [email, setEmail] = useTyped(account, 'support', seller.supportEmail ?? '')
  const [fault, setFault] = useState<string>()
  const [pressed, setPressed] = useState(0)
  const action = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const given = email.trim().toLowerCase()
    const wrong = given === '' ? undefined : emailFault(given)
    setFault(wrong)
    if (wrong) return
    void action.run(async () => {
      const { seller: changed } = await account.asSeller(() => changeSeller({ supportEmail: given || null }))
      // Text that was typed during the request stays.
      setEmail((present) => (present === email ? (changed.supportEmail ?? '') : present))
      await account.changed(changed)
      return `Saved. Buyers write to ${changed.supportEmail ?? changed.email}.`
    })
  }
  return (
    <Part
      id="support"
      title="Support address"
      about="Buyers read it in their receipt and on the page of their order, and their answers to our mails go there."
    >
      <form class="stack" noValidate onSubmit={submit}>
        <TextField
          id="support-email"
          label="Where buyers reach you"
          hint={`Leave it empty to use ${seller.email}.`}
          value={email}
          onValue={(value) => {
            setEmail(value)
            setFault(undefined)
            action.clear()
          }}
          fault={fault}
          tries={pressed}
          input={{ type: 'email', autoComplete: 'email', inputMode: 'email', maxLength: 254 }}
        />
        <Refused action={action} />
        <div class="row">
          <Do submit busy={action.busy}>
            Save the support address
          </Do>
          <Saved>{action.said}</Saved>
        </div>
      </form>
    </Part>
  )
}
