import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../../ui/api.ts'
import { newKey } from '../../ui/new-key.ts'
import { readTab, writeTab } from '../../ui/tab-storage.ts'
import { REFUND } from '../drafts.ts'
import { refundOrder, type Refund, type RefundRequest } from './orders-api.ts'

/**
 * Sends one refund of an order. The tab keeps the request from the press on the button until the answer, so that a
 * reload in between cannot make a second refund.
 */
export function useRefundRequest(orderId: string, onDone: (refund: Refund) => void) {
  // A request whose result is unknown. Until it is known, only the very same request may be sent.
  const [unanswered, setUnanswered] = useState(() => savedRequest(orderId))
  const [key, setKey] = useState(() => unanswered?.key ?? newKey())
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const runningRef = useRef(false)
  async function send(amount: number, reason: string): Promise<void> {
    if (runningRef.current) return
    const request = unanswered ?? { key, amount, reason: reason.trim() }
    runningRef.current = true
    setBusy(true)
    setTrouble(undefined)
    saveRequest(orderId, request)
    try {
      const refund = await refundOrder(orderId, request)
      saveRequest(orderId, undefined)
      // The form may stay on the page, and its next press asks for another refund.
      setKey(newKey())
      setUnanswered(undefined)
      setBusy(false)
      onDone(refund)
    } catch (refused) {
      const isUnknown = isResultUnknown(refused, unanswered !== undefined)
      if (!isUnknown) saveRequest(orderId, undefined)
      setTrouble(refused)
      setUnanswered(isUnknown ? request : undefined)
      setBusy(false)
    }
    runningRef.current = false
  }
  return { unanswered, busy, trouble, send }
}

/** After an earlier request, only an answer about this refund tells its result. A rate limit tells nothing. */
const isResultUnknown = (refused: unknown, isRepeat: boolean): boolean =>
  !(refused instanceof ApiError) || refused.unknown || (isRepeat && ![400, 404, 409].includes(refused.status))

const placeOf = (orderId: string): string => REFUND + orderId

const saveRequest = (orderId: string, request: RefundRequest | undefined): void => writeTab(placeOf(orderId), request)

function savedRequest(orderId: string): RefundRequest | undefined {
  const request = readTab<RefundRequest>(placeOf(orderId))
  return request?.key && request.amount > 0 ? request : undefined
}
