import { useEffect, useState } from 'preact/hooks'

interface BetterEmailProps {
  value: string
  /** While typing nobody is corrected; the hint comes when the field is left. */
  left: boolean
  onValue: (email: string) => void
}

/** What an address probably should have been, one press away. What knows it is loaded while the address is typed. */
export function BetterEmail({ value, left, onValue }: BetterEmailProps) {
  const [suggest, setSuggest] = useState<(email: string) => string | undefined>()
  const isBegun = value !== ''
  useEffect(() => {
    if (!isBegun) return
    import('./email-suggestion.ts').then(
      ({ suggestEmail }) => setSuggest(() => suggestEmail),
      () => {},
    )
  }, [isBegun])
  const better = left ? suggest?.(value) : undefined
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
