import '../ui/base.css'
import '../ui/site.css'
import '../ui/seller.css'
import './account.css'
import { render } from 'preact'
import { AccountPage } from './account-page.tsx'

const place = document.getElementById('app')!
place.replaceChildren()
render(<AccountPage />, place)
