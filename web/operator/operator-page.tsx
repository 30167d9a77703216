import type { ComponentType } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { returnToView } from '../ui/way-back.ts'
import { Head } from '../shop/parts.tsx'
import { leave } from '../shop/session.ts'
import { useSignOut } from '../shop/sign-out.tsx'
import { WAY_BACK } from './api.ts'
import { LogView } from './log-view.tsx'
import { OrderView } from './order-view.tsx'
import { OrdersView } from './orders-view.tsx'
import { OverviewView } from './overview-view.tsx'
import { PayoutOrRun } from './payout-view.tsx'
import { PayoutsView } from './payouts-view.tsx'
import { SellerView } from './seller-view.tsx'
import { SellersView } from './sellers-view.tsx'
import type { ViewProps } from './view-props.ts'

returnToView(WAY_BACK)
// A page restored from the browser's cache must not show the service after the operator has signed out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

/** The part of the address behind the `#` names the view and its subject. */
const VIEWS: Record<string, { list: ComponentType<ViewProps>; one?: ComponentType<ViewProps> }> = {
  '': { list: OverviewView },
  orders: { list: OrdersView, one: OrderView },
  sellers: { list: SellersView, one: SellerView },
  payouts: { list: PayoutsView, one: PayoutOrRun },
  log: { list: LogView },
}

const ENTRIES = [
  ['', 'Overview'],
  ['orders', 'Orders'],
  ['sellers', 'Sellers'],
  ['payouts', 'Payouts'],
  ['log', 'Log'],
] as const

export function OperatorPage() {
  const hash = useHash()
  const { button, below } = useSignOut(leave)
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const [name = '', id = '', ...rest] = path.split('/')
  const view = rest.length === 0 && Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined
  const View = id ? view?.one : view?.list
  return (
    <>
      <div>
        <header class="bar shop-bar">
          <a class="mark" href="/">
            Till
          </a>
          <nav aria-label="Main">
            {ENTRIES.map(([entry, label]) => (
              <a key={entry} href={`#/${entry}`} aria-current={view && name === entry ? 'page' : undefined}>
                {label}
              </a>
            ))}
          </nav>
          {button}
        </header>
        {below}
      </div>
      <main class="room shop operator">
        {View ? (
          <View key={`${name}/${id}`} id={decodeURIComponent(id)} query={new URLSearchParams(query)} />
        ) : (
          <>
            <Head title="There is nothing here" />
            <p class="lead">
              The address may be mistyped. <a href="#/">Go to the overview</a>
            </p>
          </>
        )}
      </main>
    </>
  )
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useLayoutEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return hash
}
