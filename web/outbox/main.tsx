import '../ui/base.css'
import '../ui/site.css'
import './outbox.css'
import { render } from 'preact'
import { Outbox } from './outbox.tsx'

render(<Outbox />, document.getElementById('app')!)
