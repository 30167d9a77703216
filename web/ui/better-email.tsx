import { suggestEmail } from './email-suggestion.ts'

interface BetterEmailProps {
  value: string
  /** While typing nobody is corrected; the hint comes when the field is left. */
  left: boolean
  onValue: (email: string) => void
}

/** What an address probably should have been, one press away. */
export function BetterEmail({ value, left, onValue }: BetterEmailProps) {
  const better = left ? suggestEmail(value) : undefined
  return (
    <output class="better">
      {better && (
        <>
          Did you mean{' '}
          <button type="button" class="link" onClick={() => onValue(better)}>
            {better}
          </button>
          ?
        </>
      )}
    </output>
  )
}
