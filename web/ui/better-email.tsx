import { useEffect, useRef, useState } from 'preact/hooks'
import { DOUBLE_PRESS_MS } from './double-press.ts'
import { saying, wordsOf } from './language.ts'

const words = wordsOf('ui')

interface BetterEmailProps {
  value: string
  /** The id of the field. */
  field?: string
  /** The suggestion appears when the buyer leaves the field, not while they type. */
  left: boolean
  onValue: (email: string) => void
  /** The suggestion has held back a press on the button. */
  held?: boolean
}

/** A buyer waits at most this long for the script. After that the service takes the address as it is. */
const LONGEST_WAIT_MS = 3_000

const load = () =>
  import('./email-suggestion.ts').then(
    ({ suggestEmail }) => suggestEmail,
    () => undefined,
  )

/**
 * Says whether to hold a press, because the address is probably mistyped and the buyer has not answered the suggestion:
 * Enter sends a form before the buyer has seen it. The next press with the same address goes through.
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

/** The probable right address, one press away. The script that knows it is loaded while the buyer types. */
export function BetterEmail({ value, field = 'email', left, onValue, held }: BetterEmailProps) {
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
          {saying(words.didYouMean, {
            email: (
              <button
                type="button"
                class="link"
                onClick={() => {
                  // The button disappears, and the buyer goes on in the field.
                  document.getElementById(field)?.focus()
                  onValue(better)
                }}
              >
                {better}
              </button>
            ),
          })}
          {held && ` ${words.pressAgain}`}
        </>
      )}
    </output>
  )
}
