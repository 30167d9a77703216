import type { ProductView } from '../../src/checkout/product-schema.ts'
import type { HomeCurrency } from '../../src/kit/money.ts'

export interface Problem {
  status: number
  code: string
  detail: string
  fields?: { path: string; message: string }[]
}

/**
 * The data that the server writes into `<script id="till-data">` of every page it serves. On a static host the element
 * is empty.
 */
export interface PageData {
  baseUrl?: string
  mode?: { demo: boolean; outbox: boolean }
  /** The buyer’s own currency, where other currencies have its sign too. */
  home?: HomeCurrency
  product?: ProductView | { error: Problem }
  /** The origin of the seller's site that shows this page in a frame. */
  host?: string
  /** Where the payment page leads back to, on the seller's site. */
  cancelUrl?: string
  demoProducts?: ProductView[]
  /** The name of the identity provider, where there is one. */
  idpLabel?: string
  signup?: 'open' | 'approval' | 'closed'
  /** The beginning of every line on a bank statement. */
  statementPrefix?: string
}

export const pageData: PageData = read()

/** The language of the page as it came. A browser that translates the page changes that of the document. */
export const LANGUAGE: string = document.documentElement.lang

/** The address of the API: '' is the page's own origin. A static host names another in `<meta name="till-api">`. */
export const apiBase: string = base()

/** Makes an address from the API absolute, because it may be relative to the API. */
export const fromApi = (address: string): string => new URL(address, new URL(apiBase || '/', location.href)).href

function read(): PageData {
  try {
    return JSON.parse(document.getElementById('till-data')?.textContent || '{}') as PageData
  } catch {
    return {}
  }
}

function base(): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="till-api"]')?.content.trim() || pageData.baseUrl
  if (!named) return ''
  const { origin, hostname } = new URL(named, location.href)
  // "localhost" and "127.0.0.1" are one service under two names, and the page may ask only its own origin.
  const home =
    origin === location.origin || (isLoopback(hostname) && isLoopback(location.hostname) && named === pageData.baseUrl)
  return home ? '' : named.replace(/\/+$/, '')
}

// A function declaration, because the code above calls it before this line runs.
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.')
}
