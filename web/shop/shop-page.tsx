import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { OneMoment } from '../ui/one-moment.tsx'
import { useRecovery } from '../ui/recovery.ts'
import { returnToView } from '../ui/way-back.ts'
import { Bar, ENTRIES } from './bar.tsx'
import { StandingNotice } from './standing-notice.tsx'
import { fetched, useLoad } from './load.ts'
import { currentSession } from './page-seller.ts'
import { Failed, Head } from './parts.tsx'
import { address, usePlace, type Place } from './router.ts'
import { asSeller, leave, WAY_BACK } from './session.ts'
import { VIEWS, type ViewName, type ViewProps } from './views.ts'

returnToView(WAY_BACK)
// A page restored from the browser's cache must not show a shop after the seller has signed out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

export function ShopPage() {
  const place = usePlace()
  const session = useLoad('session', () => asSeller(currentSession))
  const seller = session.value?.seller
  return (
    <>
      <Bar under={place.view && VIEWS[place.view].under} onLeave={leave} />
      <main class="room shop">
        {seller ? (
          <>
            <StandingNotice standing={seller.standing} />
            <Shown place={place} seller={seller} />
          </>
        ) : session.trouble ? (
          <Failed trouble={session.trouble} again={session.again} />
        ) : (
          <OneMoment />
        )}
      </main>
    </>
  )
}

/** The view of this address, loaded on the first visit. */
function Shown({ place: { view, id, query }, seller }: { place: Place } & Pick<ViewProps, 'seller'>) {
  const [tries, setTries] = useState(0)
  const [loaded, setLoaded] = useState<{ view: ViewName; View: ComponentType<ViewProps> }>()
  const [trouble, setTrouble] = useState<{ failed: unknown; passes: boolean }>()
  useRecovery(trouble?.passes ? trouble.failed : undefined, () => setTries(tries + 1))
  useEffect(() => {
    if (!view) return
    let current = true
    setTrouble((before) => (before?.passes ? before : undefined))
    fetched<{ default: ComponentType<ViewProps> }>(VIEWS[view].load()).then(
      ({ default: View }) => {
        if (!current) return
        setTrouble(undefined)
        setLoaded({ view, View })
      },
      async (failed: unknown) => {
        const served = await isServed()
        // Some browsers do not fetch a failed script again, and a newer release has other files.
        if (tries > 0 && served) return location.reload()
        // When the reloaded page lacks the part too, it would reload for ever: then the seller must ask for it.
        if (current) setTrouble({ failed, passes: !served })
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
        <Head title={ENTRIES.find(({ under }) => under === VIEWS[view].under)!.name} />
        <Failed trouble={trouble.failed} again={() => setTries(tries + 1)} />
      </>
    )
  }
  if (loaded?.view !== view) return <OneMoment />
  // Another id makes a new view, which keeps nothing of the one before.
  return <loaded.View key={`${view}/${id}`} seller={seller} id={id} query={query} />
}

const isServed = (): Promise<boolean> =>
  fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
