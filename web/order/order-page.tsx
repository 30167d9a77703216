import { useMemo } from 'preact/hooks'
import { useStore } from '../ui/store.ts'
import { Lookup } from './lookup.tsx'
import { openOrder } from './order.ts'
import { Receipt } from './receipt.tsx'

/** The page a receipt links to. It shows an order to who knows its number and its address, and to nobody else anything. */
export function OrderPage({ asked }: { asked: string }) {
  const opened = useMemo(() => openOrder(asked), [asked])
  const { order, email, busy, fault, tries } = useStore(opened)
  if (order && email) {
    return (
      <Receipt
        order={order}
        email={email}
        fault={fault}
        byHand={tries > 0}
        renew={opened.renew}
        onForget={opened.forget}
      />
    )
  }
  return (
    <Lookup
      asked={asked}
      email={email}
      busy={busy}
      fault={fault}
      tries={tries}
      onOpen={(id, by) => void opened.open(id, by)}
    />
  )
}
