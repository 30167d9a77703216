import type { MountForm, Outcome, PlainParts } from './payment-form.ts'

/**
 * Razorpay serves the script from this address alone:
 * https://razorpay.com/docs/payments/payment-gateway/web-integration/standard
 */
const SCRIPT = 'https://checkout.razorpay.com/v1/checkout.js'

/**
 * Razorpay's Standard Checkout opens a window over the page after a press on the pay button. Its place in the page only
 * says so.
 */
export const mount: MountForm = async (place, parts) => {
  await parts.load(SCRIPT)
  const { Razorpay } = window
  if (!Razorpay) throw new Error('the script has brought no form')
  let leave: (() => void) | undefined
  place.replaceChildren(announcement(parts))

  return {
    stays: true,
    // The buyer fills in everything in its window.
    check: () => Promise.resolve(undefined),
    submit: ({ clientSecret, publishableKey, amount, currency, email }, sending) =>
      new Promise((done) => {
        // Its window needs the whole page, and banks open from it. The buyer presses once more there.
        if (parts.leave) return parts.leave()
        const resolve = (outcome: Outcome) => {
          leave = undefined
          done(outcome)
        }
        const opened = new Razorpay({
          key: publishableKey,
          order_id: clientSecret,
          amount,
          currency,
          name: parts.seller,
          description: parts.product.slice(0, 255),
          ...(email && { prefill: { email } }),
          theme: { color: parts.look().brand },
          // Razorpay signs this answer for servers that cannot ask. Our server asks Razorpay itself.
          handler: () => resolve({ kind: 'captured' }),
          modal: {
            // Also called after a failed try, or after one that the buyer still approves in an app.
            ondismiss: () => resolve({ kind: 'left' }),
            backdropclose: false,
            confirm_close: true,
          },
          // Only by app or QR code: https://razorpay.com/docs/announcements/upi-collect-migration/standard-integration
          config: { display: { hide: [{ method: 'upi', flows: ['collect'] }] } },
          // The buyer can repeat a failed try within the window.
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

function announcement({ rails, words: texts }: PlainParts): HTMLElement {
  const whole = document.createElement('div')
  whole.className = 'accepted'
  const words = document.createElement('p')
  words.textContent = texts.formWindow
  const list = document.createElement('ul')
  list.className = 'soft small'
  for (const rail of rails) list.appendChild(document.createElement('li')).textContent = rail
  whole.append(words, list)
  return whole
}

// The parts of the script that this file uses.

declare global {
  interface Window {
    Razorpay?: new (options: object) => { open: () => void; close: () => void }
  }
}
