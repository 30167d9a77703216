import { useEffect, useMemo, useState } from 'preact/hooks'
import { useStore } from '../ui/store.ts'
import { ConfirmEmail } from './confirm-email.tsx'
import { KeepAddress } from './keep-address.tsx'
import { Lookup } from './lookup.tsx'
import { openOrder } from './order.ts'
import { Receipt } from './receipt.tsx'

/** Where the mail with the code for a new address leads. */
const CONFIRM = '#email'
/** Where the mail to the old address leads, with what shows that it was ours. */
const KEEP = '#keep='

/** The page a receipt links to. It shows an order to who knows its number and its address, and to nobody else anything. */
export function OrderPage({ asked }: { asked: string }) {
  const opened = useMemo(() => openOrder(asked), [asked])
  const { order, email, busy, fault, tries } = useStore(opened)
  const [hash, stopConfirming] = useHash()
  const confirming = hash === CONFIRM
  const keeping = hash.startsWith(KEEP) ? hash.slice(KEEP.length) : undefined
  if (keeping && asked) return <KeepAddress orderId={asked} token={keeping} onLeave={stopConfirming} />
  if (confirming && asked) {
    return (
      <ConfirmEmail
        orderId={asked}
        onConfirmed={(confirmed) => {
          stopConfirming()
          void opened.open(asked, confirmed)
        }}
        onLeave={stopConfirming}
      />
    )
  }
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

/** What the mail's link says behind the `#`. It works once: after it the address of the page leads to the order. */
function useHash(): [string, () => void] {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return [
    hash,
    () => {
      history.replaceState(history.state, '', location.pathname + location.search)
      setHash('')
    },
  ]
}
