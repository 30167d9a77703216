import { decimalText } from '../../../src/kit/money.ts'
import type { Product, ProductInput } from '../api.ts'
import { read, write } from '../../ui/storage.ts'
import { newKey } from '../../ui/new-key.ts'
import { readTab, writeTab } from '../../ui/tab-storage.ts'
import { DRAFTS, PRODUCT_KEY } from '../drafts.ts'
import { amountFaultIn, amountIn } from './typed-amount.ts'

/** How the price is set: by the seller, by the buyer, or the product is free. */
export type Pricing = 'fixed' | 'chosen' | 'free'

/** The contents of the form, as they were typed. */
export interface Draft {
  name: string
  description: string
  pricing: Pricing
  price: string
  suggested: string
  currency: string
  /** The prices in further currencies. */
  further: FurtherPrice[]
  statementSuffix: string
}

/** A further price as it was typed. */
export interface FurtherPrice {
  currency: string
  price: string
  suggested: string
}

export type Field = keyof Draft
/** A fault of a further price is at its place, from 0 on. */
export type Faults = Partial<Record<Field | `further${number}`, string>>

/** The service takes this many prices, with the default one. */
export const MOST_PRICES = 12

const PLACE = 'till:shop-currency'
export const LONGEST_NAME = 200
export const LONGEST_DESCRIPTION = 5000
/** The characters that every card network prints on a statement. */
const SUFFIX = /^[A-Z0-9][A-Z0-9 .-]*$/

export const newDraft = (): Draft => ({
  name: '',
  description: '',
  pricing: 'fixed',
  price: '',
  suggested: '',
  currency: read<string>(PLACE) ?? 'USD',
  further: [],
  statementSuffix: '',
})

export const rememberCurrency = (currency: string): void => write(PLACE, currency)

export function draftOf(product: Product): Draft {
  const { name, description, amount, currency, payWhatYouWant, suggestedAmount, statementSuffix, prices } = product
  const isFree = amount === 0 && !payWhatYouWant
  return {
    name,
    description,
    pricing: isFree ? 'free' : payWhatYouWant ? 'chosen' : 'fixed',
    price: isFree ? '' : decimalText(amount, currency),
    suggested: suggestedAmount === undefined ? '' : decimalText(suggestedAmount, currency),
    currency,
    further: prices.slice(1).map((one) => ({
      currency: one.currency,
      price: decimalText(one.minimum ?? one.amount, one.currency),
      suggested: one.minimum === undefined ? '' : decimalText(one.amount, one.currency),
    })),
    statementSuffix,
  }
}

/** The price in minor units: the amount that a buyer pays, or the least they pay. Undefined where the text is no amount. */
export function amountOf({ pricing, price, currency }: Draft): number | undefined {
  if (pricing === 'free') return 0
  if (pricing === 'chosen' && price.trim() === '') return 0
  return amountIn(price, currency)
}

export const suggestedOf = ({ pricing, suggested, currency }: Draft): number | undefined =>
  pricing === 'chosen' && suggested.trim() !== '' ? amountIn(suggested, currency) : undefined

/** The faults that prevent saving, by field. */
export function faultsOf(draft: Draft): Faults {
  const faults: Faults = {}
  if (!draft.name.trim()) faults.name = 'Please enter a name.'
  const amount = amountOf(draft)
  if (amount === undefined)
    faults.price = draft.price.trim() ? amountFaultIn(draft.price, draft.currency) : 'Please enter a price.'
  else if (draft.pricing === 'fixed' && amount === 0) faults.price = 'A price of nothing? Choose “Free” above.'
  if (draft.pricing === 'chosen' && draft.suggested.trim()) {
    const suggested = amountIn(draft.suggested, draft.currency)
    if (suggested === undefined) faults.suggested = amountFaultIn(draft.suggested, draft.currency)
    else if (suggested < Math.max(amount ?? 0, 1)) faults.suggested = 'Please suggest no less than the least price.'
  }
  for (const [at, one] of furtherOf(draft).entries()) {
    const isTwice = [draft, ...draft.further.slice(0, at)].some(({ currency }) => currency === one.currency)
    const fault = isTwice ? `There is a price in ${one.currency} already.` : furtherFault(draft, one)
    if (fault) faults[`further${at}`] = fault
  }
  const suffix = suffixOf(draft)
  if (suffix && !SUFFIX.test(suffix))
    faults.statementSuffix = 'Banks print letters without accents, digits, “.” and “-”.'
  return faults
}

/** A free product has no prices, and prices that were typed before are not sent. */
const furtherOf = ({ pricing, further }: Draft): FurtherPrice[] => (pricing === 'free' ? [] : further)

function furtherFault({ pricing }: Draft, { currency, price, suggested }: FurtherPrice): string | undefined {
  const isChosen = pricing === 'chosen'
  const least = isChosen && price.trim() === '' ? 0 : amountIn(price, currency)
  if (least === undefined) return price.trim() ? amountFaultIn(price, currency) : 'Please enter a price.'
  if (!isChosen) return least === 0 ? 'A price of nothing? Remove this currency, or choose “Free” above.' : undefined
  if (!suggested.trim()) return undefined
  const begin = amountIn(suggested, currency)
  if (begin === undefined) return amountFaultIn(suggested, currency)
  return begin < Math.max(least, 1) ? 'Please suggest no less than the least price.' : undefined
}

type Price = NonNullable<ProductInput['prices']>[number]

function priceIn(pricing: Pricing, { currency, price, suggested }: FurtherPrice): Price {
  const least = amountIn(price, currency) ?? 0
  const begin = pricing === 'chosen' && suggested.trim() ? (amountIn(suggested, currency) ?? least) : least
  return { currency, amount: begin, ...(begin > least && { minimum: least }) }
}

/** All prices, the default one first. */
export const pricesOf = (draft: Draft): Price[] =>
  draft.pricing === 'free'
    ? [{ currency: draft.currency, amount: 0 }]
    : [draft, ...draft.further].map((one) => priceIn(draft.pricing, one))

const suffixOf = ({ statementSuffix }: Draft): string => statementSuffix.trim().toUpperCase()

/** The members of the API for a draft. */
export const inputOf = (
  draft: Draft,
): Omit<ProductInput, 'status' | 'statementSuffix' | 'prices'> & Partial<ProductInput> => ({
  name: draft.name.trim(),
  description: draft.description.trim(),
  amount: amountOf(draft) ?? 0,
  currency: draft.currency,
  payWhatYouWant: draft.pricing === 'chosen',
  suggestedAmount: suggestedOf(draft) ?? null,
  // When it is empty, the service makes it from the name.
  ...(suffixOf(draft) && { statementSuffix: suffixOf(draft) }),
})

/** The members that are sent for all prices in place of those for the default one. */
const ONE_PRICE = ['amount', 'currency', 'suggestedAmount'] as const

/** The members of a new product. */
export function newInputOf(draft: Draft): Partial<ProductInput> {
  const { amount, currency, suggestedAmount, ...rest } = inputOf(draft)
  return {
    ...rest,
    ...(furtherOf(draft).length > 0 ? { prices: pricesOf(draft) } : { amount, currency, suggestedAmount }),
  }
}

/** Only the changed members, so that another person's changes to other fields stay. The prices go together, where there are several. */
export function changesOf(draft: Draft, base: Draft): Partial<ProductInput> {
  const [now, before] = [inputOf(draft), inputOf(base)]
  const changed = Object.fromEntries(
    Object.entries(now).filter(([name, value]) => value !== before[name as keyof typeof before]),
  ) as Partial<ProductInput>
  if (furtherOf(draft).length + furtherOf(base).length === 0) return changed
  for (const name of ONE_PRICE) delete changed[name]
  const prices = pricesOf(draft)
  return isSame(prices, pricesOf(base)) ? changed : { ...changed, prices }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

export const FIELDS = [
  'name',
  'description',
  'pricing',
  'price',
  'suggested',
  'currency',
  'further',
  'statementSuffix',
] as const satisfies Field[]

export const differs = (a: Draft, b: Draft): boolean => FIELDS.some((field) => !isSame(a[field], b[field]))

/** Moves the typed changes from `base` to a newer version. Also returns the fields that both have changed. */
export function rebase(draft: Draft, base: Draft, newer: Draft): { draft: Draft; both: Field[] } {
  const mine = FIELDS.filter((field) => !isSame(draft[field], base[field]))
  return {
    draft: { ...newer, ...Object.fromEntries(mine.map((field) => [field, draft[field]])) },
    both: mine.filter((field) => !isSame(newer[field], base[field]) && !isSame(newer[field], draft[field])),
  }
}

/** This tab keeps the unsaved form, so that a reload, another view or a new sign-in does not lose it. */
export interface SavedDraft {
  draft: Draft
  base: Draft
  version: string
}

const placeOf = (sellerId: string, productId: string) => `${DRAFTS}${sellerId}:${productId}`

export function savedDraft(sellerId: string, productId: string): SavedDraft | undefined {
  const saved = readTab<SavedDraft>(placeOf(sellerId, productId))
  // A tab of an earlier version knew only one price.
  const whole = (draft: Draft): Draft => ({ ...draft, further: draft.further ?? [] })
  return saved && { ...saved, draft: whole(saved.draft), base: whole(saved.base) }
}

const placeOfKey = (sellerId: string) => DRAFTS + sellerId + PRODUCT_KEY

/**
 * The key with which this tab makes a product. A repeated press, also after a reload, has the same key until the answer has come or
 * another product was sent: the first press may have made it.
 */
export function keyOf(sellerId: string, input: object): string {
  const text = JSON.stringify(input)
  const sent = readTab<{ text: string; key: string }>(placeOfKey(sellerId))
  if (sent?.text === text) return sent.key
  const key = newKey()
  writeTab(placeOfKey(sellerId), { text, key })
  return key
}
export const forgetKey = (sellerId: string): void => writeTab(placeOfKey(sellerId), undefined)

export const saveDraft = (sellerId: string, productId: string, saved: SavedDraft | undefined): void =>
  writeTab(placeOf(sellerId, productId), saved)
