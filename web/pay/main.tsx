import '../ui/base.css'
import '../ui/parts.css'
import './pay.css'
import { render } from 'preact'
import { readKept } from './saved-checkout.ts'
import { PayPage } from './pay-page.tsx'
import { takeReturn } from './returned.ts'
import { meetOwnSite } from './site.ts'

const place = document.getElementById('app')!
place.replaceChildren()
const returned = takeReturn()
const productId = new URLSearchParams(location.search).get('product')?.trim() ?? ''
await meetOwnSite(productId)
// A bank's app may send the buyer to another browser. That one does not know the order and must not offer to buy again.
if (returned && readKept(productId)?.orderId !== returned) location.replace(`/order/?order=${returned}`)
else render(<PayPage productId={productId} returned={returned} />, place)
