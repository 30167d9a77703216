import { ApiError } from './api.ts'
import type { Said } from './auth-words.ts'
import { inAWhile, say, wordsOf } from './language.ts'
import { sentence } from './words.ts'

const words = wordsOf('code')

/** The meaning of a refused or lost request for a buyer who proves a mailbox. */
export const explainToBuyer = (trouble: unknown): Said =>
  trouble instanceof ApiError && trouble.code === 'rate_limited'
    ? { title: words.tooOften, text: say(words.tooOftenText, { when: inAWhile(trouble.retryAfterSeconds) }) }
    : { title: sentence(trouble) }
