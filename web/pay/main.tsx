import '../ui/base.css'
import '../ui/parts.css'
import './pay.css'
import { render } from 'preact'
import { PayPage } from './pay-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<PayPage productId={new URLSearchParams(location.search).get('product')?.trim() ?? ''} />, place)
