import '../ui/base.css'
import '../ui/site.css'
import '../ui/seller.css'
import '../ui/parts.css'
import './order.css'
import { render } from 'preact'
import { showLanguageChoice } from '../ui/language-choice.tsx'
import { OrderPage } from './order-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<OrderPage asked={new URLSearchParams(location.search).get('order')?.trim() ?? ''} />, place)
showLanguageChoice()
