import { useState } from 'preact/hooks'
import { sendReceipt } from '../ui/api.ts'
import { Icon } from '../ui/icon.tsx'
import { sentence } from '../ui/words.ts'
import { say, wordsOf } from '../ui/language.ts'

const words = wordsOf('order')

export function SendAgain({ orderId, email }: { orderId: string; email: string }) {
  const [said, setSaid] = useState('')
  const [busy, setBusy] = useState(false)
  const send = async () => {
    if (busy) return
    setBusy(true)
    setSaid('')
    await sendReceipt(orderId, email).then(
      () => setSaid(say(words.receiptSent, { email })),
      (trouble: unknown) => setSaid(sentence(trouble)),
    )
    setBusy(false)
  }
  return (
    <>
      <button type="button" class="button" aria-disabled={busy ? 'true' : undefined} onClick={send}>
        <Icon name="mail" /> {words.sendAgain}
      </button>
      <output class="small said">{said}</output>
    </>
  )
}
