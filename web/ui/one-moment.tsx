import { wordsOf } from './language.ts'

const words = wordsOf('ui')

/**
 * For a request that nearly always answers at once: shows nothing first, then that it is loading, then that it takes
 * long.
 */
export const OneMoment = () => (
  <div class="one-moment stack soft">
    <p class="busy-line later">
      <span class="spinner" aria-hidden="true" /> {words.oneMoment}
    </p>
    <p class="much-later">{words.slowConnection}</p>
  </div>
)
