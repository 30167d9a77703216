import '../ui/base.css'
import '../ui/site.css'
import '../ui/parts.css'
import '../ui/seller.css'
import '../shop/shop.css'
import '../shop/overview/overview.css'
import '../shop/orders/orders.css'
import './operator.css'
import { render } from 'preact'
import { OperatorPage } from './operator-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<OperatorPage />, place)
