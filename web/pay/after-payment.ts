// The views after the form. The page loads this file once the buyer begins to fill in the form: web/pay/checkout-page.tsx.

export { Delivered as delivered } from './delivered.tsx'
export { Ended as ended } from './ended.tsx'
export { Waiting as waiting } from './waiting.tsx'
