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
  /** The line that the bank prints. False: it is not ours. */
  descriptor: string | false | undefined
  /** The form needs the order first. */
  isFirst: boolean
  isPressed: boolean
  /** The page's work after the press. */
  busy: 'creating' | 'confirming' | 'in_form' | undefined
}

export function PayBar({ total, descriptor, isFirst, isPressed, busy }: PayBarProps) {
  const hasSum = !total.isFree && !isFirst && !total.isOpen
  const text = hasSum
    ? say(words.pay, { price: money(total.amountMinor, total.currency) })
    : total.isFree
      ? words.getIt
      : words.toPayment
  const doing =
    busy === 'creating' ? words.creating : busy ? words.confirming : isPressed ? shared.oneMoment : undefined
  return (
    <div class="pay-bar">
      <Submit busy={doing}>
        {hasSum && <Icon name="lock" />}
        {/* A browser that translates the page takes the texts out of it, so that a change of one is not seen. Another text gets a new element. */}
        <span key={text}>{text}</span>
      </Submit>
      {busy === 'in_form' && <PayingLong />}
      {descriptor && !total.isFree && (
        <p class="soft small">{saying(words.appearsAs, { text: <span class="mono">{descriptor}</span> })}</p>
      )}
    </div>
  )
}
