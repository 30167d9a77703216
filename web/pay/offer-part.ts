import type { ComponentType, h as draw } from 'preact'
import type { useEffect, useState } from 'preact/hooks'
import type { ProductView, Wish } from '../ui/api.ts'
import { readAmount } from '../ui/amounts.ts'
import type { Offer } from './state.ts'

/** What the page passes in: a script that is loaded later cannot import from the page. */
export interface OfferTools {
  h: typeof draw
  useState: typeof useState
  useEffect: typeof useEffect
  Icon: ComponentType<{ name: 'alert' }>
  money: (amountMinor: number, currency: string) => string
  decimalText: (amountMinor: number, currency: string) => string
  decimalsOf: (currency: string) => number
  getProduct: (id: string, discountCode: string) => Promise<ProductView>
  sentence: (trouble: unknown) => string
}

export interface OfferProps {
  product: ProductView
  /** The wish of the kept order, or of the address. */
  wish: Wish
  /** The buyer changes the price or the code. */
  onType: () => void
  /** Undefined while the typed price cannot be read. */
  onOffer: (offer: Offer | undefined) => void
  /**
   * Holds the function that returns the buyer's wish when the form is sent: undefined where a field has a fault, which
   * then has the focus.
   */
  reader: { current?: () => Promise<Wish | undefined> }
}

/** The fields for a chosen price and a discount code. Few products need them, so the page loads them on demand. */
export function offerPart({
  h,
  useState: keepState,
  useEffect: afterRender,
  Icon,
  ...tools
}: OfferTools): ComponentType<OfferProps> {
  return function OfferPart({ product, wish, onType, onOffer, reader }: OfferProps) {
    const { amount: least, currency, payWhatYouWant } = product
    const price = (minor: number) => tools.money(minor, currency)
    const [typed, setTyped] = keepState(() => {
      const first = wish.chosenAmount ?? product.suggestedAmount ?? (least || undefined)
      return first === undefined ? '' : tools.decimalText(first, currency)
    })
    const [code, setCode] = keepState(wish.discountCode ?? '')
    const [discount, setDiscount] = keepState<ProductView['discount']>()
    const [fault, setFault] = keepState<{ at: 'chosen' | 'code'; text: string }>()
    const [applying, setApplying] = keepState(false)

    const read: { minor?: number | undefined; fault?: string | undefined } = payWhatYouWant
      ? readAmount(typed, currency, tools.decimalsOf(currency))
      : {}
    const chosen = read.minor
    const listMinor = chosen ?? least
    const offMinor = discount ? takenOff(listMinor, discount) : 0
    const wishOf = (used = discount): Wish => ({
      ...(chosen !== undefined && { chosenAmount: chosen }),
      ...(used && { discountCode: used.code }),
    })
    afterRender(
      () => onOffer(read.fault ? undefined : { wish: wishOf(), listMinor, offMinor }),
      [read.fault, listMinor, offMinor, discount],
    )

    const refuse = (at: 'chosen' | 'code', text: string) => {
      setFault({ at, text })
      // A field in a closed fold cannot take the focus.
      document.getElementById(at)?.closest('details')?.setAttribute('open', '')
      document.getElementById(at)?.focus()
    }

    async function apply(): Promise<ProductView['discount']> {
      if (!code.trim()) return void refuse('code', 'Please enter the code.')
      setApplying(true)
      setFault(undefined)
      try {
        const found = (await tools.getProduct(product.id, code.trim())).discount
        setDiscount(found)
        return found
      } catch (trouble) {
        refuse('code', tools.sentence(trouble))
      } finally {
        setApplying(false)
      }
    }
    afterRender(() => {
      if (code) void apply()
    }, [])

    reader.current = async () => {
      if (read.fault) return void refuse('chosen', read.fault)
      if (listMinor < least) return void refuse('chosen', `Please give ${price(least)} or more.`)
      // Typed but not yet checked.
      const used = discount ?? (code.trim() ? await apply() : undefined)
      return code.trim() && !used ? undefined : wishOf(used)
    }

    const field = (
      id: 'chosen' | 'code',
      label: string,
      hint: string,
      input: object,
      { end, below }: { end?: unknown; below?: unknown } = {},
    ) => {
      const wrong = fault?.at === id ? fault.text : undefined
      return h('div', { class: 'field' }, [
        h('label', { for: id }, label),
        hint && h('p', { class: 'soft small', id: `${id}-hint` }, hint),
        h('div', { class: 'beside' }, [
          h('input', {
            id,
            name: id,
            type: 'text',
            autoComplete: 'off',
            spellcheck: false,
            maxLength: 60,
            'aria-invalid': wrong ? 'true' : undefined,
            'aria-describedby': [wrong && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined,
            ...input,
          }),
          end,
        ] as never),
        wrong ? h('p', { class: 'fault', id: `${id}-fault` }, [h(Icon, { name: 'alert' }), wrong]) : below,
      ] as never)
    }
    // Shown while the buyer types, because "1,234" and "12,34" are one slip apart.
    const understood = h(
      'output',
      { class: 'soft small understood', for: 'chosen' },
      chosen === undefined ? (typed.trim() && read.fault) || '' : `You give ${price(chosen)}.`,
    )

    return h('div', { class: 'stack offer' }, [
      payWhatYouWant &&
        field(
          'chosen',
          `Name your price (${currency})`,
          least > 0 ? `You decide: ${price(least)} or more.` : 'You decide: any amount, or nothing.',
          {
            inputMode: 'decimal',
            value: typed,
            onInput: (event: { currentTarget: HTMLInputElement }) => {
              setTyped(event.currentTarget.value)
              setFault(undefined)
              onType()
            },
          },
          { below: understood },
        ),
      discount
        ? h('p', { class: 'recipient' }, [
            h('output', null, [h('b', null, discount.code), ` takes ${saidOff(discount, price)} off.`]),
            h(
              'button',
              {
                type: 'button',
                class: 'link',
                onClick: () => {
                  setDiscount(undefined)
                  setCode('')
                  onType()
                },
              },
              ['Remove', h('span', { class: 'unseen' }, ' the code')],
            ),
          ])
        : (product.takesCode || wish.discountCode) &&
          h('details', { open: Boolean(wish.discountCode) || undefined }, [
            h('summary', null, 'Have a code?'),
            field(
              'code',
              'Discount code',
              '',
              {
                autoCapitalize: 'characters',
                value: code,
                onInput: (event: { currentTarget: HTMLInputElement }) => {
                  setCode(event.currentTarget.value)
                  setFault(undefined)
                  onType()
                },
                // Enter in this field applies the code and does not send the form.
                onKeyDown: (event: KeyboardEvent) => {
                  if (event.key !== 'Enter') return
                  event.preventDefault()
                  void apply()
                },
              },
              {
                end: h(
                  'button',
                  {
                    type: 'button',
                    class: 'button',
                    'aria-disabled': applying || undefined,
                    onClick: () => void apply(),
                  },
                  applying ? 'Looking…' : 'Apply',
                ),
              },
            ),
          ]),
    ])
  }
}

type Discount = NonNullable<ProductView['discount']>

/** Calculated as the service does it: a percentage is rounded down, and the discount is at most the price. */
const takenOff = (listMinor: number, { percentOff, amountOff }: Discount): number =>
  percentOff ? Math.floor((listMinor * percentOff) / 100) : Math.min(listMinor, amountOff)

const saidOff = ({ percentOff, amountOff }: Discount, price: (minor: number) => string): string =>
  percentOff ? `${percentOff}\u202f%` : price(amountOff)
