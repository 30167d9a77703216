import { useState } from 'preact/hooks'
import { ApiError } from '../ui/api.ts'
import { newKey } from '../ui/new-key.ts'
import { readTab, writeTab } from '../ui/tab-storage.ts'

/** A request with the idempotency key under which it is sent. */
export type Keyed<Wish> = Wish & { key: string }

/**
 * Sends a request that must not be carried out twice. The tab keeps it below `place` from the press on the button until the
 * answer, so that a reload or a new sign-in in between cannot make a second one.
 */
export function useKeptRequest<Wish extends object>(place: string) {
  // A request whose result is unknown. Until it is known, only the very same request may be sent.
  const [unanswered, setUnanswered] = useState(() => savedRequest<Wish>(place))
  const [key, setKey] = useState(() => unanswered?.key ?? newKey())
  /** Asks for what `wish` says, or once more for what is unanswered. */
  async function send<Answer>(wish: Wish, ask: (request: Keyed<Wish>) => Promise<Answer>): Promise<Answer> {
    const request = unanswered ?? { ...wish, key }
    writeTab(place, request)
    try {
      const answer = await ask(request)
      writeTab(place, undefined)
      // The form may stay on the page, and its next press asks for another one.
      setKey(newKey())
      setUnanswered(undefined)
      return answer
    } catch (refused) {
      const isUnknown = isResultUnknown(refused, unanswered !== undefined)
      if (!isUnknown) writeTab(place, undefined)
      setUnanswered(isUnknown ? request : undefined)
      throw refused
    }
  }
  return { unanswered, send }
}

/**
 * After an earlier request, only an answer about what was asked tells its result. A rate limit tells nothing, nor does `not_found`, with
 * which the operators' API answers once the session has ended.
 */
const isResultUnknown = (refused: unknown, isRepeat: boolean): boolean =>
  !(refused instanceof ApiError) ||
  refused.unknown ||
  (isRepeat && (refused.code === 'not_found' || ![400, 404, 409].includes(refused.status)))

function savedRequest<Wish>(place: string): Keyed<Wish> | undefined {
  const request = readTab<Keyed<Wish>>(place)
  return request?.key ? request : undefined
}
