import '../ui/base.css'
import '../ui/site.css'
import './home.css'
import { render } from 'preact'
import { pageData } from '../ui/page-data.ts'
import { Demo } from './demo.tsx'

const { demoProducts = [], mode } = pageData
if (mode?.demo) {
  render(<Demo products={demoProducts} outbox={mode.outbox} />, document.getElementById('demo')!)
  const call = document.getElementById('call') as HTMLAnchorElement
  if (demoProducts[0]) {
    call.href = `/pay/?product=${demoProducts[0].id}`
    call.textContent = 'Buy the demo product'
  }
}
