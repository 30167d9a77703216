import { useEffect, useRef, useState } from 'preact/hooks'
import { getStatus, Trouble, type OrderStatus } from '../ui/api.ts'
import { emailOf, forgetOrder, rememberOrder } from '../ui/my-orders.ts'
import { sentence } from '../ui/words.ts'
import { Lookup } from './lookup.tsx'
import { Receipt } from './receipt.tsx'

const POLL_MS = { least: 1_000, failed: 5_000 }

export interface Opened {
  order: OrderStatus
  email: string
}

/** The page a receipt links to. It shows an order to who knows its number and its address, and to nobody else anything. */
export function OrderPage({ asked }: { asked: string }) {
  const [opened, setOpened] = useState<Opened>()
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const [tries, setTries] = useState(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  const load = async (orderId: string, email: string): Promise<OrderStatus | undefined> => {
    clearTimeout(timer.current)
    try {
      const order = await getStatus(orderId, email, opened?.order.status === 'processing')
      // Details are there only when the address is the order's.
      if (!order.timeline) throw new Trouble({ code: 'order_not_found', status: 404 })
      rememberOrder(orderId, email)
      setOpened({ order, email })
      setFault(undefined)
      if (order.nextPollMs !== null) timer.current = setTimeout(() => void load(orderId, email), Math.max(order.nextPollMs, POLL_MS.least))
      return order
    } catch (trouble) {
      const unmatched = trouble instanceof Trouble && (trouble.code === 'order_not_found' || trouble.code === 'validation_failed')
      if (unmatched) setOpened(undefined)
      else if (opened) timer.current = setTimeout(() => void load(orderId, email), POLL_MS.failed)
      // One sentence for an unknown number and for a wrong address: it must not tell which of the two it was.
      setFault(unmatched ? 'Nothing matches this order number and e-mail.' : sentence(trouble))
      return undefined
    }
  }
  const open = async (orderId: string, email: string) => {
    if (busy) return
    setBusy(true)
    setTries(tries + 1)
    await load(orderId, email)
    setBusy(false)
  }
  const remembered = asked ? emailOf(asked) : undefined
  useEffect(() => {
    if (remembered) void open(asked, remembered)
    return () => clearTimeout(timer.current)
  }, [])
  useEffect(() => {
    const back = () => document.visibilityState === 'visible' && opened && void load(opened.order.orderId, opened.email)
    document.addEventListener('visibilitychange', back)
    return () => document.removeEventListener('visibilitychange', back)
  }, [opened])

  if (opened)
    return (
      <Receipt
        opened={opened}
        fault={fault}
        byHand={tries > 0 && !remembered}
        renew={async () => (await load(opened.order.orderId, opened.email))?.downloads ?? []}
        onForget={() => {
          clearTimeout(timer.current)
          forgetOrder(opened.order.orderId)
          setOpened(undefined)
        }}
      />
    )
  return <Lookup asked={asked} email={remembered} busy={busy} fault={fault} tries={tries} onOpen={open} />
}
