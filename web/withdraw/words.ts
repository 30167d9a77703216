import { ApiError } from '../ui/api.ts'
import type { Said } from '../ui/auth-words.ts'
import { explainToBuyer } from '../ui/buyer-words.ts'
import { wordsOf } from '../ui/language.ts'

export const WORDS = wordsOf('withdraw')

/** The failure, and the way on. */
export function explainWithdrawal(trouble: unknown): Said {
  if (trouble instanceof ApiError && trouble.code === 'idempotency_key_reused')
    return { title: WORDS.sentBefore, text: WORDS.sentBeforeText }
  if (trouble instanceof ApiError && trouble.code === 'rate_limited')
    return { title: WORDS.tooMany, text: WORDS.tooManyText }
  return explainToBuyer(trouble)
}
