// Stands in for https://js.stripe.com/<release>/stripe.js with the part of its published interface that the payment
// page uses. It is as strict about its arguments as the real one. The typed data stays in its frame.

;(() => {
  const HERE = 'https://js.stripe.com'
  const API = 'https://api.stripe.com/v1/payment_intents'

  class IntegrationError extends Error {}
  const need = (condition, what) => {
    if (!condition) throw new IntegrationError(what)
  }
  const only = (given, names) => {
    for (const name of Object.keys(given)) need(names.includes(name), `${name} is not an accepted parameter`)
  }

  window.Stripe = (key, options) => {
    need(/^pk_(test|live)_\w+$/.test(key), 'not a publishable key')
    only(options, ['locale', 'developerTools', 'apiVersion', 'betas', 'stripeAccount'])

    // the real script names the account in every request of the form
    const own = options.stripeAccount ? { _stripe_account: options.stripeAccount } : {}

    const elements = ({ clientSecret, appearance, loader, ...rest }) => {
      // without a payment, the form gets the data of the later payment
      let due
      const tellDue = ({
        mode,
        amount,
        currency,
        allowedPaymentMethodTypes,
        excludedPaymentMethodTypes,
        ...others
      }) => {
        only(others, clientSecret ? ['locale', 'fonts'] : ['locale', 'fonts', 'onBehalfOf', 'captureMethod'])
        due = { mode, amount, currency, allowedPaymentMethodTypes, excludedPaymentMethodTypes }
        need(mode === 'payment', 'not a mode')
        need(Number.isSafeInteger(amount) && amount > 0, 'not an amount')
        need(/^[a-z]{3}$/.test(currency), 'not a currency')
        need(!(allowedPaymentMethodTypes && excludedPaymentMethodTypes), 'two lists of payment methods')
      }
      if (clientSecret) {
        only(rest, ['locale', 'fonts'])
        need(/^pi_\w+_secret_\w+$/.test(clientSecret), 'not a client secret')
      } else tellDue(rest)
      need(['auto', 'always', 'never'].includes(loader), 'not a loader')
      check(appearance)
      const listeners = {}
      const tell = (event, about = {}) => listeners[event]?.forEach((one) => one({ elementType: 'payment', ...about }))
      let frame
      let asksEmail = true
      const answers = new Map()
      const ask = (what) =>
        new Promise((resolve) => {
          const id = Math.random()
          answers.set(id, resolve)
          frame.contentWindow.postMessage({ what, id }, HERE)
        })
      addEventListener('message', ({ source, origin, data }) => {
        if (origin !== HERE || !frame || source !== frame.contentWindow) return
        if (data.what === 'ready') tell('ready')
        else if (data.what === 'loaderror') tell('loaderror', { error: data.error })
        else if (data.what === 'change') tell('change', { value: { type: data.type } })
        else if (data.what === 'height') frame.style.height = `${data.height}px`
        else answers.get(data.id)?.(data)
      })
      const element = {
        on: (event, listener) => (listeners[event] ??= []).push(listener),
        mount(place) {
          need(place.isConnected, 'the place is not in the document')
          frame = document.createElement('iframe')
          frame.title = 'Secure payment input frame'
          frame.allow = 'payment *'
          frame.src = `${HERE}/frame.html#${encodeURIComponent(JSON.stringify({ clientSecret: clientSecret ?? '', appearance }))}`
          frame.setAttribute('style', 'display: block; border: 0 !important; width: 100%; height: 18rem')
          place.append(frame)
        },
        focus: () => frame.contentWindow.postMessage({ what: 'focus' }, HERE),
        destroy() {
          frame?.remove()
          frame = undefined
        },
      }
      let isExpress = false
      // A device has the wallet that the test gives it. The real buttons are in a frame, and the sheet is the device's.
      const express = ({ buttonHeight, paymentMethods, ...others }) => {
        only(others, ['buttonType', 'buttonTheme', 'emailRequired', 'business', 'lineItems', 'paymentMethodOrder'])
        only(paymentMethods, ['applePay', 'googlePay', 'link', 'paypal', 'amazonPay', 'klarna'])
        need(buttonHeight >= 40 && buttonHeight <= 55, 'not a height')
        isExpress = true
        const buttons = document.createElement('div')
        return {
          ...element,
          mount(place) {
            const wallet = window.deviceWallet
            if (wallet) {
              const button = document.createElement('button')
              button.type = 'button'
              button.textContent = `Buy with ${wallet}`
              button.setAttribute('style', `width: 100%; height: ${buttonHeight}px`)
              button.addEventListener('click', () => tell('click', { resolve: sheet }))
              buttons.append(button)
              place.append(buttons)
            }
            setTimeout(() =>
              tell('ready', { availablePaymentMethods: wallet ? { applePay: true, googlePay: false } : undefined }),
            )
          },
          destroy: () => buttons.remove(),
        }
      }
      const sheet = ({ emailRequired, business, ...others }) => {
        only(others, ['lineItems', 'billingAddressRequired', 'phoneNumberRequired'])
        const dialog = document.createElement('dialog')
        dialog.setAttribute('aria-label', 'Wallet')
        dialog.innerHTML = `<p>${business.name}: ${due?.amount ?? 'as agreed'}</p><button type="button">Confirm with your face</button><p role="status"></p>`
        dialog.querySelector('button').addEventListener('click', () =>
          tell('confirm', {
            expressPaymentType: 'apple_pay',
            ...(emailRequired && { billingDetails: { email: 'wallet@example.com' } }),
            paymentFailed: () => void (dialog.querySelector('[role=status]').textContent = 'Payment not completed'),
          }),
        )
        document.body.append(dialog)
        dialog.showModal()
      }
      return {
        clientSecret,
        due: () => due,
        create(type, { layout, defaultValues, business, fields, ...others }) {
          if (type === 'expressCheckout') {
            only(layout, ['maxColumns', 'maxRows', 'overflow'])
            return express(others)
          }
          need(type === 'payment', 'not an element')
          only(others, ['terms', 'wallets', 'paymentMethodOrder', 'readOnly', 'applePay'])
          only(layout, ['type', 'defaultCollapsed', 'radios', 'spacedAccordionItems', 'visibleAccordionItemsCount'])
          only(defaultValues?.billingDetails ?? {}, ['name', 'email', 'phone', 'address'])
          only(fields?.billingDetails ?? {}, ['name', 'email', 'phone', 'address'])
          asksEmail = fields?.billingDetails.email !== 'never'
          only(business, ['name'])
          return element
        },
        submit: () => (isExpress ? Promise.resolve({}) : ask('submit')),
        chosen: () => (isExpress ? Promise.resolve({ method: 'pm_card_visa' }) : ask('choose')),
        asksEmail: () => asksEmail,
        update: ({ appearance: other, ...more }) => {
          if (Object.keys(more).length > 0) tellDue({ ...due, ...more })
          if (!other) return
          check(other)
          frame?.contentWindow.postMessage({ what: 'appearance', appearance: other }, HERE)
        },
      }
    }

    async function confirmPayment({ elements: group, confirmParams, redirect, clientSecret, ...rest }) {
      only(rest, [])
      const secret = group.clientSecret ?? clientSecret
      need(/^pi_\w+_secret_\w+$/.test(secret), 'no client secret')
      const email = confirmParams.payment_method_data?.billing_details.email
      need(email || group.asksEmail(), 'the form asks for no e-mail, so it must be passed')
      only(confirmParams, ['return_url', 'payment_method_data'])
      need(redirect === 'if_required', 'not a redirect')
      need(new URL(confirmParams.return_url).protocol.startsWith('http'), 'not an absolute address')
      const { method } = await group.chosen()
      document.querySelector('dialog[aria-label=Wallet]')?.remove()
      const [id] = secret.split('_secret_')
      const answer = await send(`${API}/${id}/confirm`, {
        payment_method: method,
        client_secret: secret,
        return_url: confirmParams.return_url,
        ...(email && { email }),
        ...(group.due() && { due: JSON.stringify(group.due()) }),
        ...own,
      })
      const action = answer.paymentIntent?.next_action
      if (action?.type === 'redirect_to_url') {
        // also out of a frame, as the real script does
        top.location.href = action.redirect_to_url.url
        return new Promise(() => {})
      }
      if (action?.type !== 'use_stripe_sdk') return answer
      await challenge(action.use_stripe_sdk.url)
      return send(`${API}/${id}/after_challenge`, { client_secret: secret, ...own })
    }
    return { elements, confirmPayment }
  }

  async function send(address, body) {
    try {
      const response = await fetch(address, { method: 'POST', body: new URLSearchParams(body) })
      const answer = await response.json()
      return response.ok ? { paymentIntent: answer } : { error: answer.error }
    } catch {
      return {
        error: { type: 'api_connection_error', message: 'We are experiencing issues connecting to our servers.' },
      }
    }
  }

  /** The bank's own page, in a frame over ours. */
  function challenge(address) {
    const over = document.createElement('div')
    over.setAttribute('style', 'position: fixed; inset: 0; z-index: 2147483647; background: rgb(0 0 0 / 50%)')
    const frame = document.createElement('iframe')
    frame.title = '3D Secure'
    frame.setAttribute('style', 'display: block; width: 24rem; height: 20rem; margin: 5rem auto; background: #fff')
    frame.src = address
    over.append(frame)
    document.body.append(over)
    return new Promise((resolve) => {
      addEventListener('message', ({ origin, data }) => {
        if (origin !== 'https://hooks.stripe.com' || data !== 'done') return
        over.remove()
        resolve()
      })
    })
  }

  function check({ theme, variables, rules, ...rest }) {
    only(rest, ['labels', 'disableAnimations', 'inputs'])
    need(['stripe', 'night', 'flat'].includes(theme), 'not a theme')
    for (const [name, value] of Object.entries(variables))
      need(!name.startsWith('color') || /^#[0-9a-f]{6}$/.test(value), `${name}: ${value} is not a colour`)
    need(
      Object.keys(rules).every((selector) => /^\.[\w-]+(:[\w-]+)?$/.test(selector)),
      'not a rule',
    )
  }
})()
