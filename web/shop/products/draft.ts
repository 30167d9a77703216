import { decimalText } from '../../../src/kit/money.ts'
import type { Product, ProductInput } from '../api.ts'
import { read, write } from '../../ui/storage.ts'
import { readTab, writeTab } from '../../ui/tab-storage.ts'
import { DRAFTS } from '../drafts.ts'
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
  statementSuffix: string
}

export type Field = keyof Draft
export type Faults = Partial<Record<Field, string>>

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
  statementSuffix: '',
})

export const rememberCurrency = (currency: string): void => write(PLACE, currency)

export function draftOf(product: Product): Draft {
  const { name, description, amount, currency, payWhatYouWant, suggestedAmount, statementSuffix } = product
  const isFree = amount === 0 && !payWhatYouWant
  return {
    name,
    description,
    pricing: isFree ? 'free' : payWhatYouWant ? 'chosen' : 'fixed',
    price: isFree ? '' : decimalText(amount, currency),
    suggested: suggestedAmount === undefined ? '' : decimalText(suggestedAmount, currency),
    currency,
    statementSuffix,
  }
}

/** The price in minor units: what a buyer pays, or the least they pay. Undefined where the text is no amount. */
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
  const suffix = suffixOf(draft)
  if (suffix && !SUFFIX.test(suffix))
    faults.statementSuffix = 'Banks print letters without accents, digits, “.” and “-”.'
  return faults
}

const suffixOf = ({ statementSuffix }: Draft): string => statementSuffix.trim().toUpperCase()

/** The members of the API for a draft. */
export const inputOf = (draft: Draft): Omit<ProductInput, 'status' | 'statementSuffix'> & Partial<ProductInput> => ({
  name: draft.name.trim(),
  description: draft.description.trim(),
  amount: amountOf(draft) ?? 0,
  currency: draft.currency,
  payWhatYouWant: draft.pricing === 'chosen',
  suggestedAmount: suggestedOf(draft) ?? null,
  // When it is empty, the service makes it from the name.
  ...(suffixOf(draft) && { statementSuffix: suffixOf(draft) }),
})

/** Only the changed members, so that another person's changes to other fields stay. */
export function changesOf(draft: Draft, base: Draft): Partial<ProductInput> {
  const [now, before] = [inputOf(draft), inputOf(base)]
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => value !== before[name as keyof typeof before]),
  ) as Partial<ProductInput>
}

export const FIELDS = [
  'name',
  'description',
  'pricing',
  'price',
  'suggested',
  'currency',
  'statementSuffix',
] as const satisfies Field[]

export const differs = (a: Draft, b: Draft): boolean => FIELDS.some((field) => a[field] !== b[field])

/** Moves the typed changes from `base` to a newer version. Also returns the fields that both have changed. */
export function rebase(draft: Draft, base: Draft, newer: Draft): { draft: Draft; both: Field[] } {
  const mine = FIELDS.filter((field) => draft[field] !== base[field])
  return {
    draft: { ...newer, ...Object.fromEntries(mine.map((field) => [field, draft[field]])) },
    both: mine.filter((field) => newer[field] !== base[field] && newer[field] !== draft[field]),
  }
}

/** This tab keeps the unsaved form, so that a reload, another view or a new sign-in does not lose it. */
export interface SavedDraft {
  draft: Draft
  base: Draft
  version: string
}

const placeOf = (sellerId: string, productId: string) => `${DRAFTS}${sellerId}:${productId}`

export const savedDraft = (sellerId: string, productId: string): SavedDraft | undefined =>
  readTab<SavedDraft>(placeOf(sellerId, productId))

export const saveDraft = (sellerId: string, productId: string, saved: SavedDraft | undefined): void =>
  writeTab(placeOf(sellerId, productId), saved)
