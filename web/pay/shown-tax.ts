import { useEffect, useRef, useState } from 'preact/hooks'
import { getProduct, type ProductView } from '../ui/api.ts'

type PriceTax = NonNullable<ProductView['tax']>

/** Which question was not answered as hoped, and why. */
interface Trouble {
  about: 'country' | 'vatId'
  why: unknown
}

/** The tax on the page: of a country, and of a business that has a VAT number there. */
export function useShownTax({ id, tax: first }: ProductView, onTax: (tax: PriceTax | undefined) => void) {
  /** The country's tax without a VAT number. */
  const [plain, setPlain] = useState(first!)
  const [shown, setShown] = useState({ tax: first!, vatId: '' })
  const [asked, setAsked] = useState<string | undefined>(undefined)
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined)
  /** The latest question: the buyer may have chosen something else meanwhile. */
  const latestRef = useRef<object | undefined>(undefined)

  // Fields that come again begin with the product's tax, and so does the price beside them.
  useEffect(
    () => () => {
      latestRef.current = undefined
      onTax(undefined)
    },
    [onTax],
  )
  function show(tax: PriceTax, vatId: string): void {
    setShown({ tax, vatId })
    onTax(tax)
  }
  async function ask(country: string, vatId: string): Promise<void> {
    if (asked === country + vatId) return
    const question = (latestRef.current = {})
    const isLatest = () => latestRef.current === question
    const find = async (more?: { taxId: string }) => {
      const { tax } = await getProduct(id, { country, ...more })
      // the seller charges no tax any more
      if (!tax) throw new Error('no tax')
      return tax
    }
    setAsked(country + vatId)
    setTrouble(undefined)
    let about: Trouble['about'] = 'country'
    let without = plain
    try {
      if (plain.buyerCountry !== country) without = await find()
      if (!isLatest()) return
      setPlain(without)
      about = 'vatId'
      const isBusiness = vatId && without.takesTaxId
      const found = isBusiness ? await find({ taxId: vatId }) : without
      if (isLatest()) show(found, isBusiness ? vatId : '')
    } catch (why) {
      if (!isLatest()) return
      if (about === 'vatId') show(without, '')
      setTrouble({ about, why })
    }
    if (isLatest()) setAsked(undefined)
  }
  return {
    tax: shown.tax,
    vatId: shown.vatId,
    /** Whether a VAT number takes the tax off in the country. */
    takesVatId: plain.takesTaxId,
    isAsking: asked !== undefined,
    trouble,
    ask,
    /** Whether the tax on the page is that of the country. */
    isOf: (country: string) => shown.tax.buyerCountry === country && plain.buyerCountry === country,
    /** No answer changes the tax on the page any more. */
    stop(): void {
      latestRef.current = undefined
      setAsked(undefined)
      setTrouble(undefined)
    },
    /** Without the VAT number that was shown or asked about. `why`: it was refused. */
    dropVatId(why?: unknown): void {
      latestRef.current = undefined
      setAsked(undefined)
      setTrouble(why === undefined ? undefined : { about: 'vatId', why })
      if (shown.vatId) show(plain, '')
    },
  }
}
