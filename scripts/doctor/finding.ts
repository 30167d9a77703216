import type { Config } from '../../src/config.ts'
import type { Db } from '../../src/kit/database.ts'
import { inTime } from '../../src/kit/time.ts'
import { inWords } from './in-words.ts'

/** The time limits of a check. A request ends a little earlier than its check, so that the check can report it in detail. */
export interface Patience {
  /** For a whole check. */
  checkMs: number
  requestMs: number
}

/** A request ends a little before its check, so that the check can say which of its requests had no answer. */
export const patienceOf = (seconds: number): Patience => ({ checkMs: seconds * 1000, requestMs: seconds * 1000 - 500 })

/** The result of a check: a line, and advice below a line that is not fine. */
export interface Finding {
  about: string
  mark: 'fine' | 'warning' | 'failure'
  says: string
  advice?: string | undefined
}

/** Another machine's clock. */
export interface Clock {
  whose: string
  aheadSeconds: number
}

export interface Patient {
  config: Config
  /** The addresses of the API and the pages for buyers and processors, also when they are not set. */
  baseUrl: string
  appUrl: string
  /** Undefined when the database cannot be reached, which is a finding of its own. */
  database: Promise<Db | undefined>
  /** The checks add the clocks that they read. */
  clocks: Clock[]
  patience: Patience
}

export const fine = (about: string, says: string): Finding => ({ about, mark: 'fine', says })
export const warning = (about: string, says: string, advice: string): Finding => ({
  about,
  mark: 'warning',
  says,
  advice,
})
export const failure = (about: string, says: string, advice: string): Finding => ({
  about,
  mark: 'failure',
  says,
  advice,
})

/** Returns the findings of `work`, or a failure when it throws or takes too long. */
export async function examined(
  about: string,
  advice: string,
  work: () => Promise<Finding | Finding[]>,
  { checkMs }: Patience,
): Promise<Finding[]> {
  try {
    return [await inTime(work(), checkMs)].flat()
  } catch (error) {
    return [failure(about, inWords(error), advice)]
  }
}
