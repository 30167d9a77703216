import { useState } from 'preact/hooks'
import { changeSeller, type Seller } from '../ui/auth-api.ts'
import { Notice } from '../ui/notice.tsx'
import { TextField } from '../ui/text-field.tsx'
import type { Account } from './account.ts'
import { useAction } from '../ui/action.ts'
import { UNNAMED } from '../ui/seller-name.ts'
import { Do, Part, Refused, Saved } from './part.tsx'
import { useTyped } from './typed.ts'

export function NamePart({ account, seller }: { account: Account; seller: Seller }) {
  const unnamed = seller.name === UNNAMED
  const [name, setName] = useTyped(account, 'name', unnamed ? '' : seller.name)
  const [fault, setFault] = useState<string>()
  const [pressed, setPressed] = useState(0)
  const action = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    setPressed(pressed + 1)
    const wrong = name.trim() ? undefined : 'Please enter a name.'
    setFault(wrong)
    if (wrong) return
    void action.run(async () => {
      const { seller: renamed } = await account.asSeller(() => changeSeller({ name: name.trim() }))
      // Text that was typed during the request stays.
      setName((present) => (present === name ? renamed.name : present))
      await account.changed(renamed)
      return 'Saved. Buyers read this name from now on.'
    })
  }
  return (
    <Part id="name" title="Name" about="Buyers read it on the payment page, in their receipt and in your mails.">
      {unnamed && (
        <Notice title="What should buyers call you?" tone="trial" icon="alert">
          <p>Until you choose a name, they read “{UNNAMED}”.</p>
        </Notice>
      )}
      <form class="stack" noValidate onSubmit={submit}>
        <TextField
          id="seller-name"
          label="Your name, or your shop’s"
          value={name}
          onValue={(value) => {
            setName(value)
            setFault(undefined)
            action.clear()
          }}
          fault={fault}
          tries={pressed}
          input={{ autoComplete: 'organization', autoCapitalize: 'words', maxLength: 200, required: true }}
        />
        <Refused action={action} />
        <div class="row">
          <Do submit busy={action.busy}>
            Save the name
          </Do>
          <Saved>{action.said}</Saved>
        </div>
      </form>
    </Part>
  )
}
