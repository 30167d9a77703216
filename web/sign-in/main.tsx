import '../ui/base.css'
import '../ui/site.css'
import '../ui/seller.css'
import './sign-in.css'
import { render } from 'preact'
import { SignInPage } from './sign-in-page.tsx'

document.querySelector<HTMLAnchorElement>('.bar a[href="/sign-in/"]')?.setAttribute('aria-current', 'page')
const place = document.getElementById('app')!
place.replaceChildren()
render(<SignInPage />, place)
