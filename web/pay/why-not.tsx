import { useEffect, useRef } from 'preact/hooks'
import { Notice } from '../ui/notice.tsx'
import type { State } from './state.ts'
import { wordsOf } from '../ui/language.ts'

const words = wordsOf('pay')

/** Why the last try took no money. */
const REASONS: Record<NonNullable<State['notice']>, string> = {
  declined: words.declined,
  not_taken: words.notTaken,
  left: words.left,
  invalid: words.invalid,
}

export function WhyNot({ state: { notice, detail, kept } }: { state: State }) {
  const alarm = useRef<HTMLDivElement>(null)
  // The field with the fault already has the focus.
  useEffect(() => {
    if (notice !== 'invalid') alarm.current?.focus()
  }, [notice])
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
      <p>{words[`${notice === 'not_taken' ? 'notTaken' : notice}Text`]}</p>
    </Notice>
  )
}
