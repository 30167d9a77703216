import { useRef, useState } from 'preact/hooks'
import { REFUND } from '../drafts.ts'
import { useKeptRequest } from '../kept-request.ts'
import { refundOrder, type Refund } from './orders-api.ts'

/** Sends one refund of an order. A reload before the answer cannot make a second one. */
export function useRefundRequest(orderId: string, onDone: (refund: Refund) => void) {
  const { unanswered, send: sendKept } = useKeptRequest<{ amount: number; reason: string }>(REFUND + orderId)
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<unknown>()
  const runningRef = useRef(false)
  async function send(amount: number, reason: string): Promise<void> {
    if (runningRef.current) return
    runningRef.current = true
    setBusy(true)
    setTrouble(undefined)
    try {
      const refund = await sendKept({ amount, reason: reason.trim() }, (request) => refundOrder(orderId, request))
      setBusy(false)
      onDone(refund)
    } catch (refused) {
      setTrouble(refused)
      setBusy(false)
    }
    runningRef.current = false
  }
  return { unanswered, busy, trouble, send }
}
