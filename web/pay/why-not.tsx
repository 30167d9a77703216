import { useEffect, useRef } from 'preact/hooks'
import { Notice } from '../ui/notice.tsx'
import type { State } from './state.ts'

/** Why the last try took no money, and what the buyer can do now. */
const REASONS: Record<NonNullable<State['notice']>, { title: string; text: string }> = {
  declined: {
    title: 'Your bank declined the payment. Nothing was taken.',
    text: 'You can try again or choose another way to pay. Your order stays the same.',
  },
  not_taken: {
    title: 'Your payment did not go through. Nothing was taken.',
    text: 'The connection was lost before your bank was asked. You can try again; your order stays the same.',
  },
  left: {
    title: 'Nothing has been paid so far.',
    text: 'If you did approve it, wait a moment: this page notices it by itself. You can also try again; your order stays the same.',
  },
  invalid: {
    title: 'Something is missing in the payment form.',
    text: 'Nothing was sent. Please look at the marked fields.',
  },
}

export function WhyNot({ state: { notice, detail, kept } }: { state: State }) {
  const alarm = useRef<HTMLDivElement>(null)
  // The field with the fault already has the focus.
  useEffect(() => {
    if (notice !== 'invalid') alarm.current?.focus()
  }, [notice])
  if (!notice) return null
  const { title, text } = REASONS[notice]
  const { message = detail, link } = (notice === 'left' && kept?.left) || {}
  return (
    <Notice tone="alarm" role="alert" focus={alarm} title={title}>
      {message && (
        <p>
          {link ? (
            <a href={link} target="_blank">
              {message}
            </a>
          ) : (
            message
          )}
        </p>
      )}
      <p>{text}</p>
    </Notice>
  )
}
