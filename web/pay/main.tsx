import '../ui/base.css'
import '../ui/parts.css'
import './pay.css'
import './later.ts'
import { render } from 'preact'
import { money } from '../ui/format.ts'
import { readKept, takeLink } from './saved-checkout.ts'
import { PayPage } from './pay-page.tsx'
import { takeReturn } from './returned.ts'
import { leadOn, meetOwnSite } from './site.ts'

const place = document.getElementById('app')!
place.replaceChildren()
/** The link to an order that a seller's program made. Only browsers see the part behind the "#". */
const link = /^#p=([\w-]+)$/.exec(location.hash)?.[1]
const returned = takeReturn()
const productId = new URLSearchParams(location.search).get('product')?.trim() ?? ''
if (returned) takeLink(returned.orderId, link)
await meetOwnSite(productId)
// The first sum costs as much as the rest of the page: the browser loads its names of currencies. The page is drawn in
// another task, so that the browser can react to the buyer in between.
money(0, 'USD')
await new Promise((resolve) => setTimeout(resolve))
// A bank's app may send the buyer to another browser. That one does not know the order and must not offer to buy again.
if (returned && readKept(productId)?.orderId !== returned.orderId) void leadOn(returned)
else render(<PayPage productId={productId} returned={returned?.back && returned.orderId} />, place)
