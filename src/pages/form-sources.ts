import type { Sources } from './html.ts'

/**
 * The sources that each processor's payment form needs. Only the payment page allows them. The banks' pages are inside the form's
 * frames, which have policies of their own.
 */
const FORM_SOURCES: Readonly<Record<string, Sources>> = {
  // https://docs.stripe.com/security/guide?csp=csp-js, and the style attributes that its script gives to its frames
  stripe: {
    'script-src': 'https://js.stripe.com https://*.js.stripe.com',
    'frame-src': 'https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com',
    'connect-src': 'https://api.stripe.com',
    'style-src-attr': "'unsafe-inline'",
  },
  // Razorpay publishes its list with its own shop modules (razorpay-magento, etc/csp_whitelist.xml). The window's frame and
  // its waiting sign are styled by the script, in the page itself.
  razorpay: {
    'script-src': 'https://checkout.razorpay.com https://cdn.razorpay.com',
    'frame-src': 'https://*.razorpay.com',
    'connect-src': 'https://*.razorpay.com',
    'style-src-elem': "'self' 'unsafe-inline'",
    'style-src-attr': "'unsafe-inline'",
  },
}

/**
 * All sources for the forms of the service's processors. The buyer may switch to a currency of another processor, and an order keeps its
 * currency when its product no longer has it, so the product does not tell which form a page will show.
 */
export function formSources(processors: readonly string[]): Sources {
  const all: Record<string, string[]> = {}
  for (const name of processors)
    for (const [directive, sources] of Object.entries(FORM_SOURCES[name] ?? {}))
      (all[directive] ??= []).push(...sources.split(' '))
  return Object.fromEntries(
    Object.entries(all).map(([directive, sources]) => [directive, [...new Set(sources)].join(' ')]),
  )
}
