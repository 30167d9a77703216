import type { Config } from '../../src/config.ts'
import type { Db } from '../../src/kit/database.ts'
import { inTime } from '../../src/kit/time.ts'
import { inWords } from './in-words.ts'

/** How long a check waits. One request ends a little earlier than its check, which then says more of what it met. */
export interface Patience {
  /** No check takes longer, whatever it asks. */
  checkMs: number
  requestMs: number
}

export const PATIENCE: Patience = { checkMs: 8_000, requestMs: 7_500 }

/** What one check has to say: a line, and below one that is not fine, what to do. */
export interface Finding {
  about: string
  mark: 'fine' | 'warning' | 'failure'
  says: string
  advice?: string | undefined
}

/** By how much somebody's clock is ahead of ours, in seconds. */
export interface Clock {
  whose: string
  aheadSeconds: number
}

export interface Patient {
  config: Config
  /** Where buyers and processors reach the API and the pages, whether that is set or not. */
  baseUrl: string
  appUrl: string
  /** Undefined where it cannot be reached, which is a finding of its own. */
  database: Promise<Db | undefined>
  /** Filled by whoever sees one. */
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

/** The findings of `work`, or a failure when it takes too long or comes to nothing. */
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
