import { EmailDialog } from './email-dialog.tsx'
import type { OrderDetail, Refund } from './orders-api.ts'
import { RefundDialog } from './refund-dialog.tsx'

interface OrderDialogProps {
  which: 'refund' | 'email'
  order: OrderDetail
  again: () => void
  onClose: (hasAsked: boolean) => void
  onDone: (said: string) => void
  onRefund: (refund: Refund) => void
}

/** The dialog that the seller has opened on an order. Each answer closes this dialog alone. */
export function OrderDialog({ which, order, again, onClose, onDone, onRefund }: OrderDialogProps) {
  if (which === 'email') {
    const sent = (to: string) => {
      onClose(false)
      onDone(`A code is on its way to ${to}.`)
    }
    return <EmailDialog order={order} onDone={sent} onClose={() => onClose(false)} />
  }
  return (
    <RefundDialog
      order={order}
      onDone={(refund) => {
        onClose(true)
        onRefund(refund)
      }}
      onClose={(hasAsked) => {
        onClose(hasAsked)
        if (hasAsked) again()
      }}
    />
  )
}
