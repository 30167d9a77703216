import { useState } from 'preact/hooks'
import { BetterEmail } from '../ui/better-email.tsx'
import { Submit } from '../ui/button.tsx'
import { EmailField } from '../ui/email-field.tsx'
import { emailFault } from '../ui/text-field.tsx'
import type { Library, LibraryState } from './library.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('library')

export function AskStep({ library, state: { email, busy, message } }: { library: Library; state: LibraryState }) {
  const [fault, setFault] = useState<string>()
  const [left, setLeft] = useState(false)
  const [pressed, setPressed] = useState(0)
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy) return
    setPressed(pressed + 1)
    setLeft(true)
    const wrong = emailFault(email)
    setFault(wrong)
    if (!wrong) void library.sendCode()
  }
  const change = (value: string) => {
    library.type(value)
    setFault(undefined)
    setLeft(false)
  }
  return (
    <form class="stack" noValidate onSubmit={submit} onFocusOut={() => setLeft(true)}>
      <EmailField value={email} onValue={change} hint={words.emailHint} fault={fault} tries={pressed}>
        <BetterEmail value={email} left={left} onValue={change} />
      </EmailField>
      <Submit busy={busy}>{wordsOf('code').sendMe}</Submit>
      <output class="unseen">{message ? '' : busy}</output>
      <p class="small soft">
        {words.onlyNumber} <a href="/order/">{words.findThat}</a>. {words.onlyLine}{' '}
        <a href="/charge/">{words.findWhat}</a>.
      </p>
    </form>
  )
}
