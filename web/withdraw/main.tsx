import '../ui/base.css'
import '../ui/site.css'
import '../ui/seller.css'
import './withdraw.css'
import { render } from 'preact'
import { showLanguageChoice } from '../ui/language-choice.tsx'
import { WithdrawPage } from './withdraw-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<WithdrawPage />, place)
showLanguageChoice()
