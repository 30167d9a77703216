import { useEffect, useRef, useState } from 'preact/hooks'

interface BetterEmailProps {
  value: string
  /** While typing nobody is corrected; the hint comes when the field is left. */
  left: boolean
  onValue: (email: string) => void
  /** A press of the button was held for it. */
  held?: boolean
}

/** The second half of a double press is no answer to what the first has shown. */
const DOUBLE_PRESS_MS = 700

/** A script that is on its way for so long is not worth a buyer's waiting: the service takes the address as it is. */
const LONGEST_WAIT_MS = 3_000

const load = () =>
  import('./email-suggestion.ts').then(
    ({ suggestEmail }) => suggestEmail,
    () => undefined,
  )

/**
 * Says whether a press is to be held, because the address is probably mistyped and its buyer has not answered the suggestion:
 * Enter sends a form before the suggestion was ever seen. The next press with the same address goes through.
 */
export function useHeldEmail(): (email: string) => Promise<boolean> {
  const heldRef = useRef({ email: '', at: 0 })
  return async (email) => {
    if (heldRef.current.email === email) return Date.now() - heldRef.current.at < DOUBLE_PRESS_MS
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, LONGEST_WAIT_MS))
    const suggestEmail = await Promise.race([load(), late])
    if (!suggestEmail?.(email)) return false
    heldRef.current = { email, at: Date.now() }
    return true
  }
}

/** What an address probably should have been, one press away. What knows it is loaded while the address is typed. */
export function BetterEmail({ value, left, onValue, held }: BetterEmailProps) {
  const [suggest, setSuggest] = useState<(email: string) => string | undefined>()
  const isBegun = value !== ''
  useEffect(() => {
    if (isBegun) void load().then((suggestEmail) => setSuggest(() => suggestEmail))
  }, [isBegun])
  const better = left ? suggest?.(value) : undefined
  return (
    <output class="better">
      {better && (
        <>
          Did you mean{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              // the button goes: the field is where the buyer goes on
              document.getElementById('email')?.focus()
              onValue(better)
            }}
          >
            {better}
          </button>
          ?{held && ' Press again to keep yours.'}
        </>
      )}
    </output>
  )
}
