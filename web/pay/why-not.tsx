import { useEffect, useRef } from 'preact/hooks'
import { Notice } from '../ui/notice.tsx'
import type { State } from './state.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

/** Why the last try took no money. */
const REASONS: Record<NonNullable<State['notice']>, [title: string, text: string]> = {
  declined: [words.declined, words.declinedText],
  not_taken: [words.notTaken, words.notTakenText],
  left: [words.left, words.leftText],
  invalid: [words.invalid, words.invalidText],
}

export function WhyNot({ state: { notice, detail, kept } }: { state: State }) {
  const alarm = useRef<HTMLDivElement>(null)
  // The field with the fault already has the focus.
  useEffect(() => {
    if (notice !== 'invalid') alarm.current?.focus()
  }, [notice])
  if (!notice) return null
  const [title, text] = REASONS[notice]
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
