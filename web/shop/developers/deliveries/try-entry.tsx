import { exactMoment } from '../../../ui/format.ts'
import { happened } from './delivery-words.ts'
import type { LoggedTry } from './deliveries-api.ts'

/** One try: its time, its length, and the answer. */
export const TryEntry = ({ entry }: { entry: LoggedTry }) => (
  <li>
    <p class="delivery-line">
      <span>
        <b>Try {entry.number}</b> <span class="small soft">{exactMoment(entry.at)}</span>
      </span>{' '}
      <span class="small">
        {entry.status ?? 'No answer'} · {entry.tookMs} ms
      </span>
    </p>
    <p class="small">{happened(entry)}</p>
    {entry.answer === '' ? (
      <p class="small soft">The answer was empty.</p>
    ) : (
      <pre aria-label={entry.status ? 'The beginning of the answer' : 'What went wrong'}>{entry.answer}</pre>
    )}
  </li>
)
