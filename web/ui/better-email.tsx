import { useEffect, useState } from 'preact/hooks'

interface BetterEmailProps {
  email: string
  /** While typing nobody is corrected; the hint comes when the field is left. */
  left: boolean
  onChange: (email: string) => void
}

/** What an address probably should have been, one press away. What knows it is loaded while the address is typed. */
export function BetterEmail({ email, left, onChange }: BetterEmailProps) {
  const [suggest, setSuggest] = useState<(email: string) => string | undefined>()
  useEffect(() => {
    import('./email-suggestion.ts').then(
      ({ suggestEmail }) => setSuggest(() => suggestEmail),
      () => {},
    )
  }, [])
  const better = left ? suggest?.(email) : undefined
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
