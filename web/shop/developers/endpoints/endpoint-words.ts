import { moment } from '../../../ui/format.ts'
import type { Delivery } from '../deliveries/deliveries-api.ts'
import type { Endpoint } from './endpoints-api.ts'

type Tone = 'good' | 'bad' | 'quiet'

export interface State {
  words: string
  tone: Tone
  /** The meaning and the advice. */
  about: string
}

const MOST_COUNTED = 1000

/** How an endpoint does, in plain words. `wasSent`: something has been tried. */
export function stateOf(endpoint: Endpoint, wasSent: boolean): State {
  const { status, pausedBecause, failingSince, heldUntil, waiting, failed } = endpoint
  if (status === 'paused') {
    const why =
      pausedBecause === 'gone'
        ? { words: 'Gone: paused', about: 'The receiver answered 410: it wants nothing more.' }
        : { words: 'Paused', about: 'No try has succeeded for 72 hours, so we have stopped.' }
    return {
      words: why.words,
      tone: 'bad',
      about: `${why.about} Nothing is lost: ${waitingWords(waiting)}. Repair the receiver, then resume.`,
    }
  }
  if (status === 'failing') {
    return {
      words: 'Failing',
      tone: 'bad',
      about: `No try has succeeded since ${moment(failingSince!)}. We go on trying: ${waitingWords(waiting)}.${heldWords(heldUntil)} After 72 hours we pause the endpoint.${givenUpWords(failed)}`,
    }
  }
  if (!wasSent)
    return {
      words: 'Nothing sent yet',
      tone: 'quiet',
      about: 'Send a test event to see whether your program hears us.',
    }
  return {
    words: 'Works',
    tone: 'good',
    about:
      waiting > 0 || failed > 0 || heldUntil
        ? `It works, and ${waitingWords(waiting)}.${heldWords(heldUntil)}${givenUpWords(failed)}`
        : 'All is delivered.',
  }
}

function waitingWords(count: number): string {
  if (count >= MOST_COUNTED) return `${MOST_COUNTED} or more deliveries wait`
  if (count === 0) return 'no delivery waits'
  return count === 1 ? 'one delivery waits' : `${count} deliveries wait`
}

const heldWords = (until: string | undefined): string =>
  until ? ` It has asked us to wait until ${moment(until)}: a test or a replay ends the wait.` : ''

function givenUpWords(count: number): string {
  // an instance of an earlier release does not count them
  if (!count) return ''
  if (count === 1) return ' One delivery was given up: a replay sends it again.'
  return ` ${count >= MOST_COUNTED ? `${MOST_COUNTED} or more` : count} deliveries were given up: a replay sends them again.`
}

/** The name that the seller gave the endpoint, or its host. */
export const nameOf = ({ description, url }: Endpoint): string => description || new URL(url).host

/** The key whose program gave the endpoint its address, if one did. */
export const keyWords = ({ madeByKey }: Endpoint): string | undefined =>
  madeByKey &&
  `Made by the key ${madeByKey.name ? `“${madeByKey.name}”` : 'that is gone from the list'}${
    madeByKey.ended ? ', which has ended. The endpoint stays until you remove it.' : '.'
  }`

export const eventWords = ({ events }: Endpoint): string => (events.includes('*') ? 'All events' : events.join(', '))

export const hasSent = (deliveries: readonly Delivery[]): boolean => deliveries.some(({ tries }) => tries > 0)
