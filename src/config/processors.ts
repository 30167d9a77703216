import { origin } from './parsers.ts'
import { type RazorpaySettings, type StripeSettings, modeOf } from '../processors/settings.ts'
import type { Reader } from './reader.ts'

export const PROCESSORS = ['stripe', 'razorpay', 'sandbox'] as const
export type ProcessorName = (typeof PROCESSORS)[number]

export interface ProcessorsConfig {
  /** In order of preference. None: payments are not live. */
  readonly processors: readonly ProcessorName[]
  readonly stripe: StripeSettings | undefined
  readonly razorpay: RazorpaySettings | undefined
}

const KEYS = {
  stripe: ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'],
  razorpay: ['RAZORPAY_KEY_ID', 'RAZORPAY_KEY_SECRET', 'RAZORPAY_WEBHOOK_SECRET'],
} as const

/** Reads the processors and their keys: those that PROCESSORS names, by default those that have keys, and otherwise the sandbox. */
export function readProcessors(reader: Reader, isPublic: boolean): ProcessorsConfig {
  const { text, checked, problems } = reader
  const hasKeys = (['stripe', 'razorpay'] as const).filter((name) => KEYS[name].some((key) => text(key) !== undefined))
  const standing: readonly ProcessorName[] = hasKeys.length > 0 ? hasKeys : ['sandbox']
  const processors = checked('PROCESSORS', standing, processorList, `a list of ${PROCESSORS.join(', ')}, or none`)
  for (const name of ['stripe', 'razorpay'] as const)
    if (processors.includes(name))
      for (const key of KEYS[name]) if (text(key) === undefined) problems.push(`${key}: required for ${name}`)
  const stripe = readStripe(reader, isPublic)
  const razorpay = readRazorpay(reader, isPublic)
  return {
    processors,
    stripe: processors.includes('stripe') ? stripe : undefined,
    razorpay: processors.includes('razorpay') ? razorpay : undefined,
  }
}

function readStripe({ checked, problems }: Reader, isPublic: boolean): StripeSettings {
  const key = (name: string, kinds: string, expected: string) =>
    checked(
      name,
      '',
      (value) => (new RegExp(`^(${kinds})_(test|live)_\\w+$`).test(value) ? value : undefined),
      expected,
    )
  const secretKey = key('STRIPE_SECRET_KEY', 'sk|rk', 'sk_live_…, or rk_live_… of a restricted key, or sk_test_…')
  const publishableKey = key('STRIPE_PUBLISHABLE_KEY', 'pk', 'pk_live_… or pk_test_…')
  if (secretKey && publishableKey && modeOf(secretKey) !== modeOf(publishableKey))
    problems.push('STRIPE_PUBLISHABLE_KEY: of the other mode (test or live) than STRIPE_SECRET_KEY')
  return {
    secretKey,
    publishableKey,
    webhookSecrets: checked(
      'STRIPE_WEBHOOK_SECRET',
      [],
      webhookSecrets(/^whsec_\w+$/),
      'whsec_…; two while one is replaced',
    ),
    apiUrl: apiUrl(checked, 'STRIPE_API_URL', isPublic),
    paymentMethodTypes: checked(
      'STRIPE_PAYMENT_METHOD_TYPES',
      undefined,
      (value) => {
        const list = value.split(',').map((type) => type.trim())
        return list.every((type) => /^[a-z0-9_]+$/.test(type)) ? list : undefined
      },
      'a list such as card,us_bank_account',
    ),
  }
}

function readRazorpay({ checked, text }: Reader, isPublic: boolean): RazorpaySettings {
  return {
    keyId: checked(
      'RAZORPAY_KEY_ID',
      '',
      (value) => (/^rzp_(test|live)_\w+$/.test(value) ? value : undefined),
      'rzp_live_… or rzp_test_…',
    ),
    keySecret: text('RAZORPAY_KEY_SECRET') ?? '',
    webhookSecrets: checked(
      'RAZORPAY_WEBHOOK_SECRET',
      [],
      webhookSecrets(/^[^,]{8,}$/),
      'at least 8 characters; two, separated by a comma, while one is replaced',
    ),
    apiUrl: apiUrl(checked, 'RAZORPAY_API_URL', isPublic),
  }
}

/** Another server with the processor's API. It gets the keys, so a public service needs TLS to it. */
const apiUrl = (checked: Reader['checked'], name: string, isPublic: boolean): string | undefined =>
  checked(
    name,
    undefined,
    (value) => {
      const url = origin(value)
      return url && (!isPublic || url.startsWith('https:')) ? url : undefined
    },
    'an https address, without a path',
  )

const webhookSecrets =
  (shape: RegExp) =>
  (value: string): string[] | undefined => {
    const list = value.split(',').map((secret) => secret.trim())
    return list.every((secret) => shape.test(secret)) ? list : undefined
  }

function processorList(value: string): readonly ProcessorName[] | undefined {
  if (value === 'none') return []
  const list = value.split(',').map((name) => name.trim())
  const isKnown = list.every((name): name is ProcessorName => (PROCESSORS as readonly string[]).includes(name))
  return isKnown && new Set(list).size === list.length ? list : undefined
}
