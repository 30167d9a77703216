import { useEffect, useRef } from 'preact/hooks'
import { Notice } from '../ui/notice.tsx'
import type { State } from './state.ts'
import { useWords, words } from './use-words.ts'

/** Why the last try took no money. */
const REASONS: Record<NonNullable<State['notice']>, string> = {
  declined: 'Your bank declined the payment. Nothing was taken.',
  not_taken: 'Your payment did not go through. Nothing was taken.',
  left: 'Nothing has been paid so far.',
  invalid: 'Something is missing in the payment form.',
}

export function WhyNot({ state: { notice, detail, kept } }: { state: State }) {
  const alarm = useRef<HTMLDivElement>(null)
  // The field with the fault already has the focus.
  useEffect(() => {
    if (notice !== 'invalid') alarm.current?.focus()
  }, [notice])
  const texts = useWords(words)
  if (!notice) return null
  const { message = detail, link } = (notice === 'left' && kept?.left) || {}
  return (
    <Notice tone="alarm" role="alert" focus={alarm} title={REASONS[notice]}>
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
      <p>{texts?.[notice]}</p>
    </Notice>
  )
}
