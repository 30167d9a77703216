import { useEffect, useState } from 'preact/hooks'
import { decimalText } from '../../src/kit/money.ts'
import type { OrderStatus } from '../ui/api.ts'
import type { SandboxWords } from './sandbox-form.tsx'

interface UpiCodeProps {
  order: OrderStatus
  seller: string
  words: SandboxWords
}

/** A code to scan at a desk. A phone cannot scan itself, so it gets a link to the app. */
export function UpiCode({ order, seller, words }: UpiCodeProps) {
  const link = words.upiLink({ ...order, amount: decimalText(order.amount, order.currency) }, seller)
  if (matchMedia('(pointer: coarse)').matches)
    return (
      <a class="button" href={link}>
        Open your UPI app
      </a>
    )
  return (
    <>
      <Code text={link} />
      <p>{words.SCAN}</p>
    </>
  )
}

/** Drawing a code takes a fifth of this page's script, and few buyers need one, so the page loads it on demand. */
function Code({ text }: { text: string }) {
  const [drawing, setDrawing] = useState<string>()
  useEffect(() => {
    import('uqr').then(
      ({ renderSVG }) => setDrawing(renderSVG(text, { border: 3 })),
      // Without the drawing, the text below it still says what to do.
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
