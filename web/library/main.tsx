import '../ui/base.css'
import '../ui/site.css'
import '../ui/seller.css'
import '../ui/parts.css'
import './library.css'
import { render } from 'preact'
import { showLanguageChoice } from '../ui/language-choice.tsx'
import { LibraryPage } from './library-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<LibraryPage />, place)
showLanguageChoice()
