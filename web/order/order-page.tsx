import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { useStore } from '../ui/store.ts'
import { ConfirmEmail } from './confirm-email.tsx'
import { KeepAddress } from './keep-address.tsx'
import { Lookup } from './lookup.tsx'
import { openOrder } from './order.ts'
import { Receipt } from './receipt.tsx'

/** The mail with the code for a new address leads here. */
const CONFIRM = '#email'
/** The mail to the old address leads here. Its link carries a token that proves the mail is ours. */
const KEEP = '#keep='

/** The page that a receipt links to. It shows an order only to a person who knows its number and its address. */
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

/** The part of the mail's link behind the `#`. It works once: afterwards the address of the page leads to the order. */
function useHash(): [string, () => void] {
  const [hash, setHash] = useState(location.hash)
  // A layout effect runs before the first click can come; an effect may run after it.
  useLayoutEffect(() => {
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
