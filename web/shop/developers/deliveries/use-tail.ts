import { useEffect, useRef, useState } from 'preact/hooks'
import { useList } from '../../load.ts'
import { useNewest } from '../../use-newest.ts'
import { getEndpoint, type Endpoint } from '../endpoints/endpoints-api.ts'
import { merge, readNews } from './merge.ts'
import { usePoll } from './use-poll.ts'
import { useSteady } from './use-steady.ts'
import { getDeliveries, type Delivery } from './deliveries-api.ts'

interface TailProps {
  endpoint: Endpoint
  onEndpoint: (endpoint: Endpoint) => void
  status: string
  isLive: boolean
}

/** An endpoint's deliveries. While it is live, new ones come in and known ones change, and the row being read stays at its place. */
export function useTail({ endpoint, onEndpoint, status, isLive }: TailProps) {
  const key = `${endpoint.id}/${status}`
  const list = useList(key, (cursor) => getDeliveries(endpoint.id, { status, cursor }))
  const place = useRef<HTMLUListElement>(null)
  const [said, setSaid] = useState('')
  const keepSteady = useSteady(place)
  // an answer is merged into the list that the page shows when it arrives
  const nowRef = useRef({ list, key, endpoint })
  useEffect(() => {
    nowRef.current = { list, key, endpoint }
  })
  const readNewest = useNewest(async (known: Set<string>) =>
    Promise.all([
      getEndpoint(endpoint.id),
      readNews(
        (cursor) => getDeliveries(endpoint.id, { status, cursor }),
        (id) => known.has(id),
      ),
    ]),
  )
  const look = async () => {
    if (!list.value) return
    const known = new Set(list.value.map(({ eventId }) => eventId))
    // After a pause of the list, the look from before it can still be under way.
    const newest = await readNewest(known)
    const now = nowRef.current
    if (!newest || now.key !== key) return
    const [state, news] = newest
    keepSteady()
    // The seller can have changed the endpoint since.
    if (now.endpoint === endpoint) onEndpoint(state)
    if (!news) return now.list.again()
    const isHeld = (id: string) => isBeingRead(place.current?.querySelector(`#${id}`))
    now.list.change((rows) => merge(rows, news.fresh, { reachesEnd: news.reachesEnd, isHeld }))
    const added = news.fresh.filter(({ eventId }) => !known.has(eventId))
    if (added.length > 0) setSaid(newsWords(added))
  }
  usePoll(look, isLive)
  const change = (row: Delivery) =>
    nowRef.current.list.change((rows) => rows.map((one) => (one.eventId === row.eventId ? row : one)))
  return { list, place, said, change }
}

const isBeingRead = (row: Element | null | undefined): boolean =>
  !!row && (row.contains(document.activeElement) || row.querySelector('details[open]') !== null)

function newsWords(added: readonly Delivery[]): string {
  const types = [...new Set(added.map(({ type }) => type))].join(', ')
  return `${added.length === 1 ? 'A new delivery' : `${added.length} new deliveries`}: ${types}.`
}
