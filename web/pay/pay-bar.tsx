import { Submit } from '../ui/button.tsx'
import { money } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { say, saying, wordsOf } from '../ui/language.ts'
import { PayingLong } from './paying-long.tsx'
import type { Total } from './total.ts'

const words = wordsOf('pay')
const shared = wordsOf('ui')

interface PayBarProps {
  total: Total
  /** The line that the bank prints. */
  descriptor: string | undefined
  /** The form needs the order first. */
  isFirst: boolean
  isPressed: boolean
  /** The page's work after the press. */
  busy: 'creating' | 'confirming' | 'in_form' | undefined
}

export function PayBar({ total, descriptor, isFirst, isPressed, busy }: PayBarProps) {
  const price = money(total.amountMinor, total.currency)
  const doing =
    busy === 'creating' ? words.creating : busy ? words.confirming : isPressed ? shared.oneMoment : undefined
  return (
    <div class="pay-bar">
      <Submit busy={doing}>
        {total.isFree ? (
          words.getIt
        ) : isFirst || total.isOpen ? (
          words.toPayment
        ) : (
          <>
            <Icon name="lock" /> {say(words.pay, { price })}
          </>
        )}
      </Submit>
      {busy === 'in_form' && <PayingLong />}
      {descriptor && !total.isFree && (
        <p class="soft small">{saying(words.appearsAs, { text: <span class="mono">{descriptor}</span> })}</p>
      )}
    </div>
  )
}
