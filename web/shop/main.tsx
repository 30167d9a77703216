import '../ui/base.css'
import '../ui/site.css'
import '../ui/parts.css'
import '../ui/seller.css'
import './shop.css'
import { render } from 'preact'
import { ShopPage } from './shop-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<ShopPage />, place)
