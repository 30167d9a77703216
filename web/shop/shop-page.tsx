import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { getSession } from '../ui/auth-api.ts'
import { OneMoment } from '../ui/one-moment.tsx'
import { fetched, useLoad } from './load.ts'
import { Failed, Head } from './parts.tsx'
import { address, usePlace, type Place } from './router.ts'
import { asSeller, leave, returnToView } from './session.ts'
import { VIEWS, type ViewName, type ViewProps } from './views.ts'

const ENTRIES = [
  ['overview', 'Overview'],
  ['products', 'Products'],
  ['orders', 'Orders'],
  ['money', 'Money'],
] as const satisfies [ViewName, string][]

returnToView()
// A page that the browser has kept as it was must not show a shop after signing out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

export function ShopPage() {
  const place = usePlace()
  const session = useLoad('session', () => asSeller(getSession))
  const seller = session.value?.seller
  return (
    <>
      <Bar place={place} />
      <main class="room shop">
        {seller ? (
          <Shown place={place} seller={seller} />
        ) : session.trouble ? (
          <Failed trouble={session.trouble} again={session.again} />
        ) : (
          <OneMoment />
        )}
      </main>
    </>
  )
}

function Bar({ place }: { place: Place }) {
  const under = place.view && VIEWS[place.view].under
  const [trouble, setTrouble] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const signOut = () => {
    if (busy) return
    setBusy(true)
    leave().catch((refused: unknown) => {
      setTrouble(refused)
      setBusy(false)
    })
  }
  return (
    <>
      <header class="bar shop-bar">
        <a class="mark" href="/">
          <svg viewBox="0 0 22 26" aria-hidden="true" focusable="false">
            <path
              fill="currentColor"
              d="M3 0h16a3 3 0 0 1 3 3v23l-3.7-3-3.6 3-3.7-3-3.7 3-3.6-3L0 26V3a3 3 0 0 1 3-3Zm2 7v2h12V7H5Zm0 5v2h8v-2H5Z"
            />
          </svg>
          Till
        </a>
        <nav aria-label="Main">
          {ENTRIES.map(([view, name]) => (
            <a key={view} href={address(view)} aria-current={under === view ? 'page' : undefined}>
              {name}
            </a>
          ))}
          <a href="/account/">Account</a>
        </nav>
        <button type="button" class="link" aria-disabled={busy ? 'true' : undefined} onClick={signOut}>
          Sign out
        </button>
      </header>
      {trouble ? (
        <div class="bar">
          <Failed trouble={trouble} again={signOut} />
        </div>
      ) : null}
    </>
  )
}

/** The view of this address, loaded when it is first looked at. */
function Shown({ place: { view, id, query }, seller }: { place: Place } & Pick<ViewProps, 'seller'>) {
  const [tries, setTries] = useState(0)
  const [loaded, setLoaded] = useState<{ view: ViewName; View: ComponentType<ViewProps> }>()
  const [trouble, setTrouble] = useState<unknown>()
  useEffect(() => {
    if (!view) return
    let current = true
    setTrouble(undefined)
    fetched<{ default: ComponentType<ViewProps> }>(VIEWS[view].load()).then(
      ({ default: View }) => current && setLoaded({ view, View }),
      async (failed: unknown) => {
        // not every browser fetches again what did not come, and a newer release has other files
        if (tries > 0 && (await isServed())) return location.reload()
        if (current) setTrouble(failed)
      },
    )
    return () => {
      current = false
    }
  }, [view, tries])
  if (!view) {
    return (
      <>
        <Head title="There is nothing here" />
        <p class="lead">
          The address may be mistyped. <a href={address('overview')}>Go to the overview</a>
        </p>
      </>
    )
  }
  if (trouble) {
    return (
      <>
        <Head title={ENTRIES.find(([name]) => name === VIEWS[view].under)![1]} />
        <Failed trouble={trouble} again={() => setTries(tries + 1)} />
      </>
    )
  }
  if (loaded?.view !== view) return <OneMoment />
  // another id is another view: nothing of the one before it stays
  return <loaded.View key={`${view}/${id}`} seller={seller} id={id} query={query} />
}

const isServed = (): Promise<boolean> =>
  fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
