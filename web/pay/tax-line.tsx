import { useRef } from 'preact/hooks'
import { share, stepOf } from '../../src/kit/money.ts'
import type { ApiError, OrderStatus, ProductView } from '../ui/api.ts'
import { percent } from '../ui/format.ts'
import { say, wordsOf } from '../ui/language.ts'
import { taxName } from '../ui/tax-name.ts'
import { useLater } from './later.ts'
import type { State } from './state.ts'
import type { TaxPartProps } from './tax-part.tsx'

const words = wordsOf('pay')
const shared = wordsOf('ui')

type PriceTax = ProductView['tax']

/** The amount to pay for a price before tax, as far as the country is known: the service has the last word. */
export const withTax = (priceMinor: number, tax: PriceTax, currency: string): number =>
  tax?.prices === 'exclusive'
    ? priceMinor + share(priceMinor, Math.round((tax.rate ?? 0) * 1000), 100_000, stepOf(currency))
    : priceMinor

/** The price before tax of an order, as the product names it. */
export const withoutTax = ({ amount, tax }: OrderStatus, priced: PriceTax): number =>
  amount - (priced?.prices === 'exclusive' ? (tax?.amount ?? 0) : 0)

interface TaxLineProps {
  tax: { rate?: number; country?: string } | undefined
  /** The price to which the tax was added. Absent: the tax is within the price. */
  before?: string | false
}

/** Says what tax a total has. Where there is none, it says nothing. */
export function TaxLine({ tax, before }: TaxLineProps) {
  const country = tax?.country ?? ''
  const text = before ? `${before} + {rate} {tax} ({country})` : shared.includesTax
  const said = tax?.rate
    ? say(text, { tax: taxName(country), rate: percent(tax.rate), country })
    : before && !country && words.plusTax
  return said ? (
    <p class="small soft" key={said}>
      {said}
    </p>
  ) : null
}

const load = () => import('./tax-part.tsx')

/** The buyer's country, where the seller's tax depends on it. The page loads its field only then. */
export function useTax(product: ProductView, { kept, trouble }: State, asked: Pick<TaxPartProps, 'onTax' | 'onType'>) {
  const isAsked = product.tax && product.tax.treatment !== 'exempt'
  const { loaded: { TaxPart } = {}, failed } = useLater(load, !!isAsked)
  const readerRef: TaxPartProps['readerRef'] = useRef(undefined)
  return {
    failed,
    /** The file with the field, where it is needed. */
    load: () => isAsked && load(),
    /** Where the buyer is, for the order. Undefined: that is not said yet. */
    read: () => (isAsked ? readerRef.current?.() : {}),
    /** Its country or VAT number is why the order was not made, and the field says so. */
    isRefused: TaxPart && /^tax_id|^country_unc/.test((trouble as Partial<ApiError> | undefined)?.code ?? ''),
    part: TaxPart && <TaxPart {...{ product, kept: kept?.wish, refused: trouble, readerRef, ...asked }} />,
  }
}
