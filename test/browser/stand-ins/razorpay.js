// Stands in for https://checkout.razorpay.com/v1/checkout.js with the part of its published interface that the payment
// page uses. Its window is a frame over the page, like the real one's, and puts its own styles into the page.

;(() => {
  const FRAME = 'https://api.razorpay.com'
  const KNOWN =
    'key order_id amount currency name description prefill theme handler modal config retry timeout notes image'
  const MODAL = 'ondismiss backdropclose confirm_close escape handleback animation'

  const risk = document.createElement('script')
  risk.src = 'https://cdn.razorpay.com/static/cx/razorpay-risk-detection/bundle.js'
  document.head.append(risk)

  const only = (given, names) => {
    for (const name of Object.keys(given))
      if (!names.split(' ').includes(name)) throw new Error(`unknown option ${name}`)
  }

  window.Razorpay = class {
    #options
    #listeners = {}
    #over
    #heard
    constructor(options) {
      only(options, KNOWN)
      only(options.modal ?? {}, MODAL)
      if (!/^rzp_(test|live)_\w+$/.test(options.key)) throw new Error('not a key')
      if (!/^order_\w+$/.test(options.order_id)) throw new Error('not an order')
      if (!Number.isInteger(options.amount)) throw new Error('not an amount')
      if (!/^#[0-9a-f]{6}$/.test(options.theme?.color)) throw new Error('not a colour')
      this.#options = options
    }
    on(event, listener) {
      ;(this.#listeners[event] ??= []).push(listener)
    }
    open() {
      const { handler, modal, key, order_id: order, config, prefill, name, description } = this.#options
      void fetch('https://lumberjack.razorpay.com/v1/track', { method: 'POST', body: '{}' }).catch(() => {})
      this.#over = document.createElement('div')
      this.#over.className = 'razorpay-container'
      this.#over.innerHTML = '<style>@keyframes rzp-rot{to{transform: rotate(360deg);}}</style>'
      this.#over.setAttribute('style', 'position: fixed; inset: 0; z-index: 2147483647; background: rgb(0 0 0 / 60%)')
      const frame = document.createElement('iframe')
      frame.className = 'razorpay-checkout-frame'
      frame.title = 'Razorpay Checkout'
      frame.allow = 'otp-credentials; payment'
      frame.setAttribute('style', 'position: relative; display: block; width: 100%; height: 100%; border: 0')
      const hash = encodeURIComponent(
        JSON.stringify({ key, order, hide: config?.display?.hide, email: prefill?.email, name, description }),
      )
      frame.src = `${FRAME}/v1/checkout/public#${hash}`
      this.#over.append(frame)
      document.body.append(this.#over)
      document.body.style.overflow = 'hidden'
      this.#heard = ({ origin, data }) => {
        if (origin !== FRAME) return
        if (data.what === 'failed') this.#listeners['payment.failed']?.forEach((one) => one({ error: data.error }))
        if (data.what !== 'paid' && data.what !== 'dismissed') return
        this.#gone()
        if (data.what === 'paid') handler(data.response)
        else modal?.ondismiss?.()
      }
      addEventListener('message', this.#heard)
    }
    close() {
      if (!this.#over) return
      this.#gone()
      this.#options.modal?.ondismiss?.()
    }
    #gone() {
      removeEventListener('message', this.#heard)
      this.#over.remove()
      this.#over = undefined
      document.body.style.overflow = ''
    }
  }
})()
