import type { MountForm, Outcome } from './payment-form.ts'

/** The one address there is: https://razorpay.com/docs/payments/payment-gateway/web-integration/standard */
const SCRIPT = 'https://checkout.razorpay.com/v1/checkout.js'

/** Razorpay's Standard Checkout: a window over the page, opened by the pay button. Its place in the page only says so. */
export const mount: MountForm = async (place, parts) => {
  await parts.load(SCRIPT)
  const { Razorpay } = window
  if (!Razorpay) throw new Error('the script has brought no form')
  let leave: (() => void) | undefined
  place.replaceChildren(announcement(parts.rails))

  return {
    stays: true,
    submit: (sending) =>
      new Promise((done) => {
        const resolve = (outcome: Outcome) => {
          leave = undefined
          done(outcome)
        }
        const opened = new Razorpay({
          key: parts.publishableKey,
          order_id: parts.clientSecret,
          amount: parts.amount,
          currency: parts.currency,
          name: parts.seller,
          description: parts.product.slice(0, 255),
          prefill: { email: parts.email },
          theme: { color: parts.look().brand },
          // what is signed here is for a server that has no other way to know: ours asks
          handler: () => resolve({ kind: 'captured' }),
          modal: {
            // also after a try that failed, or one that the buyer still approves in an app
            ondismiss: () => resolve({ kind: 'left' }),
            backdropclose: false,
            confirm_close: true,
          },
          // by app or QR code only: https://razorpay.com/docs/announcements/upi-collect-migration/standard-integration
          config: { display: { hide: [{ method: 'upi', flows: ['collect'] }] } },
          // a try that fails can be repeated within the window
          retry: { enabled: true },
        })
        leave = () => {
          resolve({ kind: 'left' })
          opened.close()
        }
        sending()
        opened.open()
      }),
    destroy() {
      leave?.()
      place.replaceChildren()
    },
  }
}

function announcement(rails: string[]): HTMLElement {
  const whole = document.createElement('div')
  whole.className = 'accepted'
  const words = document.createElement('p')
  words.textContent = 'A secure window opens for the payment. UPI goes by your app or a QR code.'
  const list = document.createElement('ul')
  list.className = 'soft small'
  for (const rail of rails) list.appendChild(document.createElement('li')).textContent = rail
  whole.append(words, list)
  return whole
}

// What is used of the script.

declare global {
  interface Window {
    Razorpay?: new (options: object) => { open: () => void; close: () => void }
  }
}
