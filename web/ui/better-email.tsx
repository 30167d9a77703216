import { suggestEmail } from './email-suggestion.ts'

interface BetterEmailProps {
  email: string
  /** While typing nobody is corrected; the hint comes when the field is left. */
  left: boolean
  onChange: (email: string) => void
}

/** What an address probably should have been, one press away. */
export function BetterEmail({ email, left, onChange }: BetterEmailProps) {
  const better = left ? suggestEmail(email) : undefined
  return (
    <output class="better">
      {better && (
        <>
          Did you mean{' '}
          <button type="button" class="link" onClick={() => onChange(better)}>
            {better}
          </button>
          ?
        </>
      )}
    </output>
  )
}
