import '../ui/base.css'
import '../ui/site.css'
import './pricing.css'
import { render } from 'preact'
import { Calculator } from './calculator.tsx'

render(<Calculator />, document.getElementById('calculator')!)
