import '../ui/base.css'
import '../ui/site.css'
import '../ui/seller.css'
import './charge.css'
import { render } from 'preact'
import { showLanguageChoice } from '../ui/language-choice.tsx'
import { ChargePage } from './charge-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<ChargePage />, place)
showLanguageChoice()
