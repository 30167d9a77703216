import type { ComponentType, h } from 'preact'
import type { useEffect, useState } from 'preact/hooks'
import type { Catalogue } from '../../src/words/catalogues.ts'
import type { ProductView } from '../ui/api.ts'
import type { say, saying } from '../ui/language.ts'

/** What the page passes in: a script that is loaded later cannot import from the page. */
export interface OfferTools {
  h: typeof h
  useState: typeof useState
  useEffect: typeof useEffect
  Icon: ComponentType<{ name: 'alert' }>
  money: (amountMinor: number, currency: string) => string
  percent: (percent: number) => string
  decimalText: (amountMinor: number, currency: string) => string
  decimalsOf: (currency: string) => number
  getProduct: (id: string, asked: { discountCode: string; currency: string }) => Promise<ProductView>
  sentence: (trouble: unknown) => string
  say: typeof say
  saying: typeof saying
  words: Catalogue['ui'] & Catalogue['pay']
}
