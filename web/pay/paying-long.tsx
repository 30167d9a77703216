import { useElapsed } from './elapsed.ts'

const LONGER_MS = 8_000

/** Shown while the buyer is in the processor's form or the bank is working. */
export function PayingLong() {
  const waited = useElapsed()
  return (
    <output class="soft small">
      {waited > LONGER_MS ? 'If your bank asks you to confirm, please do. You are charged once.' : ''}
    </output>
  )
}
