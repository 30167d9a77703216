import { useElapsed } from './elapsed.ts'
import { wordsOf } from '../ui/language.ts'

const LONGER_MS = 8_000

/** Shown while the buyer is in the processor's form or the bank is working. */
export function PayingLong() {
  const waited = useElapsed()
  return <output class="soft small">{waited > LONGER_MS ? wordsOf('pay').confirmAtBank : ''}</output>
}
