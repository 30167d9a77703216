import { useEffect, useState } from 'preact/hooks'
import { decimalText } from '../../src/kit/money.ts'
import type { OrderStatus } from '../ui/api.ts'

/** The sandbox's own account: `invalid` is a handle no bank has, so an app that reads the code refuses it. */
const TEST_ACCOUNT = 'sandbox@invalid'

/** A UPI payment link as the network defines it: who, how much, and our order number as the reference. */
const upiLink = ({ amount, currency, orderId }: OrderStatus, seller: string): string =>
  `upi://pay?pa=${TEST_ACCOUNT}&pn=${encodeURIComponent(seller)}&am=${decimalText(amount, currency)}&cu=${currency}&tr=${orderId}`

/** A code to scan beside a desk; on a phone, which cannot scan itself, a link to the app. */
export function UpiCode({ order, seller }: { order: OrderStatus; seller: string }) {
  const link = upiLink(order, seller)
  if (matchMedia('(pointer: coarse)').matches)
    return (
      <a class="button" href={link}>
        Open your UPI app
      </a>
    )
  return (
    <>
      <Code text={link} />
      <p>Scan it with your phone. In test mode the code leads nowhere: press the button below to pay.</p>
    </>
  )
}

/** Drawing a code takes a fifth of this page's script, and few buyers need one: it is loaded when it is looked at. */
function Code({ text }: { text: string }) {
  const [drawing, setDrawing] = useState<string>()
  useEffect(() => {
    import('uqr').then(
      ({ renderSVG }) => setDrawing(renderSVG(text, { border: 3 })),
      // Without the drawing the words below it still tell what to do.
      () => {},
    )
  }, [text])
  return drawing ? (
    <img
      class="code"
      src={`data:image/svg+xml,${encodeURIComponent(drawing)}`}
      alt="UPI code"
      width="176"
      height="176"
    />
  ) : (
    <div class="code" />
  )
}
