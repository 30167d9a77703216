import type { FormParts, MountedForm, OrderToPay, Outcome } from './payment-form.ts'
import type { StripeElements } from './stripe-script.ts'

/** https://docs.stripe.com/js/element/express_checkout_element. The brands' rules for their buttons are the element's own. */
export function mountWallets(
  group: StripeElements,
  { wallets, seller, knowsEmail }: FormParts,
  confirm: (order: OrderToPay) => Promise<Outcome>,
): () => void {
  const others = { link: 'never', paypal: 'never', amazonPay: 'never', klarna: 'never' }
  const buttons = group.create('expressCheckout', {
    buttonHeight: 48,
    paymentMethods: { applePay: 'auto', googlePay: 'auto', ...others },
    layout: { maxColumns: 2, maxRows: 1, overflow: 'never' },
  })
  const form: MountedForm = {
    stays: true,
    async check() {
      const { error } = await group.submit()
      return error && { kind: 'left' }
    },
    submit(order, sending) {
      sending()
      return confirm(order)
    },
    destroy() {},
  }
  buttons.on('ready', ({ availablePaymentMethods: ways }) =>
    wallets.show(ways !== undefined && Object.values(ways).some(Boolean)),
  )
  buttons.on('loaderror', () => wallets.show(false))
  buttons.on('click', ({ resolve }) => {
    const asked = wallets.open(knowsEmail)
    // Without an answer the wallet stays closed.
    if (asked) resolve?.({ emailRequired: asked.asksEmail, business: { name: seller } })
  })
  buttons.on('confirm', (event) => {
    void wallets
      .confirm(form, { email: event.billingDetails?.email })
      .then((isTaken) => isTaken || event.paymentFailed?.({ reason: 'fail' }))
  })
  buttons.mount(wallets.place)
  return () => {
    wallets.show(false)
    buttons.destroy()
  }
}
