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
  const [dots, setDots] = useState<boolean[][]>()
  useEffect(() => {
    import('uqr').then(
      ({ encode }) => setDots(encode(text, { border: 3 }).data),
      // Without the drawing the words below it still tell what to do.
      () => {},
    )
  }, [text])
  const size = dots?.length ?? 1
  const path = dots?.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg class="code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="UPI code" shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      {path && <path d={path} fill="#000" />}
    </svg>
  )
}
