import { pageData } from '../ui/page-data.ts'
import { getStatus, type Wish } from '../ui/api.ts'
import type { OwnSite } from './own-site.ts'
import { readKept } from './saved-checkout.ts'

const load = () => import('./own-site.ts')

/** The page's part for the seller's own site, which shows the page in a frame, or to which the order leads. */
export let ownSite: OwnSite | undefined

/** Loads it if the page's address needs it, which names the order of a link. Without it the page sells all the same. */
export async function meetOwnSite(productId: string): Promise<void> {
  if (/embed=1|Url=|&order=/.test(location.href))
    await load().then(
      (part) => (ownSite = part.meet({ productId, readKept, pageData })),
      () => {},
    )
}

/** For a window that does not know the order: to the seller's site once the order is paid, otherwise to the order's page. */
export const leadOn = ({ orderId, back }: { orderId: string; back: string }): Promise<void> =>
  load()
    .then((part) => part.siteOf(() => getStatus(orderId, '', 'sync', back)))
    .catch(() => {})
    .then((site) => location.replace(site || `/order/?order=${orderId}`))

/** The page's address adds these to an order. */
export const terms: Wish = Object.fromEntries(
  [...new URLSearchParams(location.search)].filter(([name]) => /^(clientReferenceId|(success|cancel)Url)$/.test(name)),
)
