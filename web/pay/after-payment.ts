// The views after the form. The page loads this file once the buyer begins to fill in the form: web/pay/checkout-page.tsx.

import { Delivered } from './delivered.tsx'
import { Ended } from './ended.tsx'
import { forBuyer } from './for-buyer.tsx'

export const delivered = forBuyer(Delivered)
export const ended = forBuyer(Ended)
export { Waiting as waiting } from './waiting.tsx'
