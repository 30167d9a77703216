import type { ApiError, OrderStatus } from '../ui/api.ts'
import { say, wordsOf } from '../ui/language.ts'
import type { PageData } from '../ui/page-data.ts'
import type { Kept } from './saved-checkout.ts'
import { isSettled, type State, type View } from './state.ts'

// Talks to the seller's own site. The page loads it only for an address, a kept order or a return from a bank that needs it.

const words = wordsOf('pay')

export interface OwnSite {
  /** The page shows this now. */
  shown: (view: View, state: State, seller: string) => void
  /** Opens the page with the same order in the whole window. Absent outside of a frame. */
  leave?: (() => void) | undefined
  /** Opens another page instead, which no frame can show. */
  replace: (address: string) => void
}

interface Tools {
  productId: string
  readKept: (productId: string) => Kept | undefined
  /** With the origin of the site around the frame and the way back to the site, if the service knows them. */
  pageData: Pick<PageData, 'host' | 'cancelUrl'>
}

/** The messages to the site. None holds an address, a link or a token. */
type Message =
  | { till: 'ready' }
  | { till: 'size'; height: number }
  | { till: 'paid'; orderId: string }
  // `keep`: the site hides the frame and shows it again at the next click, because nothing else knows the order
  | { till: 'closed'; keep: boolean }
  | { till: 'stays' }
  // no frame shows the page that this order needs: the site opens its link in the whole window
  | { till: 'late' }

/** After this time a payment that is not confirmed yet no longer keeps the buyer here: the receipt comes by mail. */
const BANK_MS = 40_000
/** Afterwards the buyer waits on the order's page. */
const LOOKS = 10
const LOOK_MS = 2_000

export function meet({ productId, readKept, pageData: { host, cancelUrl } }: Tools): OwnSite {
  const isFramed = self !== top
  let last: State | undefined
  const tell = (message: Message) => isFramed && host !== undefined && parent.postMessage(message, host)
  const close = () => tell(isAtBank(last) ? { till: 'stays' } : { till: 'closed', keep: mayBePaid(last) })
  if (isFramed) {
    document.documentElement.classList.add('framed')
    openLinksOutside()
    addEventListener('keydown', (event) => event.key === 'Escape' && !event.defaultPrevented && close())
    addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source === parent && origin === host && isClose(data)) close()
    })
  }

  let isLeaving = false
  let before: View | undefined
  /** The buyer has paid just now, and not on an earlier visit of which this page reminds. */
  let hasJustPaid = false
  const line = document.createElement('p')
  line.className = 'own-site'
  function shown(view: View, state: State, seller: string): void {
    const { order } = state
    last = state
    if (isFramed) keepInAddress(state)
    if (isLeaving) leave()
    if (before === undefined) {
      tell({ till: 'ready' })
      if (isFramed) reportSize((height) => tell({ till: 'size', height }))
    }
    const isPaid = view === 'delivered'
    if (view !== before) {
      hasJustPaid = isPaid && before !== undefined && before !== 'checking'
      if (isPaid) tell({ till: 'paid', orderId: order!.orderId })
      before = view
    }
    const onward = isPaid
      ? order?.successUrl && withOrder(order.successUrl, order.orderId)
      : order
        ? order.cancelUrl
        : cancelUrl
    if (hasJustPaid && onward && !isFramed) return location.replace(onward)
    // This browser knows no address that opens the files, so the order's page asks for it.
    if (isPaid && !hasJustPaid && state.kept?.link && !isFramed)
      return location.replace(`/order/?order=${order!.orderId}`)
    const site = onward ? new URL(onward).host : ''
    show(line, onward, isPaid ? say(words.continueTo, { site }) : say(words.backToSeller, { seller: isolated(seller) }))
  }

  /** At once, or as soon as the page tells of the order that was just made. */
  function leave(): void {
    const address = last && addressOf(last)
    isLeaving = !address || last?.kept?.orderId !== readKept(productId)?.orderId
    if (!isLeaving) open(address, '_top')
  }
  const replace = (address: string): void => (isFramed ? void tell({ till: 'late' }) : location.replace(address))
  return { shown, replace, ...(isFramed && { leave }) }
}

/**
 * Where a paid order leads on to. A bank has taken the whole window from a frame, whose order this window does not know. Undefined: the
 * order leads nowhere, or is not paid. It rejects if the service knows no such order.
 */
export async function siteOf(ask: () => Promise<OrderStatus>): Promise<string | undefined> {
  const line = document.createElement('p')
  line.className = 'plain'
  line.role = 'status'
  line.textContent = words.confirming
  document.getElementById('app')!.append(line)
  for (let looks = LOOKS; looks > 0; looks--) {
    const order = await ask().catch((trouble: Partial<ApiError>) => {
      // asking again would not help
      if (trouble.code === 'order_not_found') throw trouble
    })
    if (order?.paid) return order.successUrl && withOrder(order.successUrl, order.orderId)
    // The processor was asked and holds no money, or the order has ended.
    if (order && (!order.successUrl || order.nextPollMs === null || (order.synced && order.canPay))) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** While a bank may be at work, the frame stays open. */
function isAtBank(state: State | undefined): boolean {
  const sentAt = state?.kept?.attempt?.sentAt
  return state?.busy !== undefined || (sentAt !== undefined && Math.abs(Date.now() - sentAt) < BANK_MS)
}

/** Whether the page has an order that is not paid and has not ended. A payment of it may be under way, also after a decline. */
const mayBePaid = (state: State | undefined): boolean =>
  state?.kept?.orderId !== undefined && !isSettled(state.order?.status)

/**
 * The order's page in the whole window, which cannot read what the frame knows. So the order goes by its link, like one that a program
 * made. The link does not hold the idempotency key: whoever has that can get the files.
 */
function addressOf({ kept, created }: State, without = ['embed', 'host']): string | undefined {
  if (!kept?.orderId || created?.orderId !== kept.orderId) return undefined
  const query = new URLSearchParams(location.search)
  for (const name of without) query.delete(name)
  query.set('order', kept.orderId)
  return `${location.pathname}?${query}${'payUrl' in created ? new URL(created.payUrl).hash : `#p=${kept.link}`}`
}

/** A frame has no storage. A page that loads itself again there, as in another language, finds its order by the frame's own address. */
function keepInAddress(state: State): void {
  const address = addressOf(state, [])
  if (address) return history.replaceState(history.state, '', address)
  const { orderId, link } = state.kept ?? {}
  const query = new URLSearchParams(location.search)
  if (link || !query.has('order') || orderId === query.get('order')) return
  query.delete('order')
  history.replaceState(history.state, '', `${location.pathname}?${query}`)
}

/** As `<bdi>` does in markup: a name keeps its own direction. */
const isolated = (name: string) => `\u2068${name}\u2069`

/** The site's address with the order added. Its own query and fragment stay. */
function withOrder(address: string, orderId: string): string {
  const url = new URL(address)
  const own = url.search
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !/^order(=|$)/.test(part))
  url.search = [...own, `order=${orderId}`].join('&')
  return url.href
}

function show(line: HTMLElement, address: string | undefined, words: string): void {
  if (!address) return line.remove()
  const link = document.createElement('a')
  link.href = address
  link.target = '_top'
  link.textContent = words
  line.replaceChildren(link)
  document.querySelector('main')?.append(line)
}

/** Our other pages are in no frame, so a link to one opens a tab, and the site stays where it is. */
function openLinksOutside(): void {
  const base = document.createElement('base')
  base.target = '_blank'
  document.head.append(base)
}

function reportSize(tell: (height: number) => void): void {
  const place = document.getElementById('app')!
  new ResizeObserver(() => tell(Math.ceil(place.getBoundingClientRect().height))).observe(place)
}

const isClose = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'till' in data && data.till === 'close'
