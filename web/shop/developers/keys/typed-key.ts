import type { NewApiKey, Scope } from './keys-api.ts'

type Subject = Scope extends `${infer Name}:${string}` ? Name : never

/** The subjects of scopes, in the order of the form, in a seller's words. */
export const SUBJECTS: Record<Subject, string> = {
  products: 'Products',
  files: 'Files of products',
  discounts: 'Discount codes',
  orders: 'Orders and their buyers',
  refunds: 'Refunds',
  balance: 'Balance and transfers',
  exports: 'Lists as CSV',
  webhooks: 'Webhooks, and events with orders',
  keys: 'API keys',
}
/** Keys may have these, and no route takes them. A test compares the list with that of the service. */
export const OPENS_NOTHING: readonly Scope[] = ['files:read', 'balance:write', 'exports:write']

export const opensSomething = (scope: Scope): boolean => !OPENS_NOTHING.includes(scope)

export const subjects = Object.keys(SUBJECTS) as Subject[]

/** Usual choices. None of them sends money back or makes keys: a seller ticks these two knowingly. */
export const PRESETS: { name: string; about: string; scopes: Scope[] }[] = [
  {
    name: 'See what was sold',
    about: 'For a server that unlocks something for buyers.',
    scopes: ['products:read', 'orders:read', 'webhooks:read'],
  },
  {
    name: 'Keep the shop up to date',
    about: 'For a program that manages products, files and codes.',
    scopes: ['products:read', 'products:write', 'files:write', 'discounts:read', 'discounts:write'],
  },
  {
    name: 'Do the books',
    about: 'For an accountant’s program. It changes nothing.',
    scopes: ['orders:read', 'refunds:read', 'balance:read', 'exports:read'],
  },
]

/** The harm that a stolen key could do. */
export const GRAVE: Partial<Record<Scope, string>> = {
  'refunds:write': 'This key can send money back to buyers.',
  'keys:write': 'This key can make other keys.',
  'webhooks:write': 'This key can have your orders, with the buyers’ addresses, sent to any place.',
}

export type Lifetime = '30' | '90' | '365' | 'never'
export const LIFETIMES: [Lifetime, string][] = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
  ['never', 'never ends'],
]

export interface TypedKey {
  name: string
  scopes: Scope[]
  lifetime: Lifetime
  /** Empty: all products. */
  productIds: string[]
}

export const NO_KEY: TypedKey = { name: '', scopes: PRESETS[0]!.scopes, lifetime: '90', productIds: [] }

export interface KeyFaults {
  name?: string
  scopes?: string
}

export function keyFaults({ name, scopes }: TypedKey): KeyFaults {
  return {
    ...(name.trim() === '' && { name: 'Give the key a name, so that you know it again.' }),
    ...(scopes.length === 0 && { scopes: 'Choose what the key may do.' }),
  }
}

const DAY_MS = 86_400_000

export function keyInput({ name, scopes, lifetime, productIds }: TypedKey, now = Date.now()): NewApiKey {
  const expiresAt = lifetime === 'never' ? null : new Date(now + Number(lifetime) * DAY_MS).toISOString()
  return { name: name.trim(), scopes, expiresAt, ...(productIds.length > 0 && { productIds }) }
}

export const isSame = (some: readonly Scope[], others: readonly Scope[]): boolean =>
  some.length === others.length && some.every((scope) => others.includes(scope))

/** `orders:read, orders:write, products:read` → "Orders and their buyers (read, write), Products (read)" */
export const inWords = (scopes: readonly Scope[]): string =>
  subjects
    .flatMap((subject) => {
      const deeds = (['read', 'write'] as const).filter((deed) => scopes.includes(`${subject}:${deed}`))
      return deeds.length > 0 ? [`${SUBJECTS[subject]} (${deeds.join(', ')})`] : []
    })
    .join(', ')
