import { useState } from 'preact/hooks'
import { BetterEmail, useHeldEmail } from '../ui/better-email.tsx'
import { looksLikeEmail } from '../ui/looks-like-email.ts'
import { EmailField } from '../ui/email-field.tsx'
import type { ApiError } from '../ui/api.ts'
import { typedBefore } from '../ui/language-choice.tsx'
import { wordsOf } from '../ui/language.ts'
import type { State } from './state.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

/** The address for the files, and its fault. `onType`: the buyer changes it. */
export function useContact({ kept, trouble }: State, onType: () => void) {
  const [email, setEmail] = useState(() => typedBefore('email', kept?.email))
  const [left, setLeft] = useState(false)
  const [tries, setTries] = useState(0)
  const [fault, setFault] = useState<string>()
  const [held, setHeld] = useState(false)
  const isHeld = useHeldEmail()
  const isRefused = (trouble as Partial<ApiError> | undefined)?.code === 'validation_failed'
  const refusedFault = isRefused && email.trim() === kept?.email ? words.checkAddress : undefined
  const change = (value: string) => {
    setEmail(value)
    setFault(undefined)
    setHeld(false)
    onType()
    // The suggestion appears when the buyer leaves the field, not while they type.
    setLeft(false)
  }
  return {
    email,
    isRefused,
    /** The address that a wallet tells. */
    take: setEmail,
    /** Whether the text can be an address. Otherwise the field says what is wrong, and gets the focus. */
    check(): boolean {
      setTries(tries + 1)
      setLeft(true)
      const wrong = faultOf(email)
      setFault(wrong)
      return wrong === undefined
    },
    /** Holds the first press with an address that is probably mistyped: the page suggests the right one. */
    async hold(isCurrent: () => boolean): Promise<boolean> {
      const hold = await isHeld(email)
      if (isCurrent()) setHeld(hold)
      return hold
    },
    leave: () => setLeft(true),
    part: (
      <EmailField value={email} onValue={change} hint={words.emailHint} fault={fault ?? refusedFault} tries={tries}>
        <BetterEmail value={email} left={left || fault !== undefined} onValue={change} held={held} />
      </EmailField>
    ),
  }
}

function faultOf(email: string): string | undefined {
  if (looksLikeEmail(email)) return undefined
  return email.trim() ? shared.emailIncomplete : shared.emailMissing
}
