import { type InvoiceUrl, invoiceSigner } from './invoice-links.ts'
import { downloadSigner, downloadToken } from './downloads.ts'
import type { DownloadUrl } from './links.ts'
import { statusTokens } from './status-tokens.ts'
import type { Locale } from '../kit/locales.ts'

/** The addresses that belong to an order. */
export interface OrderUrls {
  /** The page of the order, which asks for the buyer's address. */
  orderUrl: (orderId: string, locale?: Locale) => string
  /** The same page for the buyer with this address. */
  receiptUrl: (orderId: string, email: string, locale?: Locale) => string
  downloadUrl: DownloadUrl
  invoiceUrl: InvoiceUrl
  /** The hosted page, with one order that is there already. */
  payUrl: (productId: string, orderId: string, token: string, locale?: Locale) => string
}

/** The end of the query of a page's address. English has none: nearly all pages are read in the browser's own language. */
export const inLocale = (locale: Locale = 'en'): string => (locale === 'en' ? '' : `&locale=${locale}`)

export function orderUrls(secrets: readonly string[], baseUrl: string, appUrl: string): OrderUrls {
  const signer = downloadSigner(secrets)
  const tokens = statusTokens(secrets)
  const invoices = invoiceSigner(secrets)
  const orderUrl = (orderId: string, locale?: Locale) => `${appUrl}/order/?order=${orderId}${inLocale(locale)}`
  return {
    orderUrl,
    // the token stands after the "#", because browsers send that part to no server and no proxy
    receiptUrl: (orderId, email, locale) => `${orderUrl(orderId, locale)}#t=${tokens.tokenFor(orderId, email)}`,
    downloadUrl: (orderId, fileId, expiresAt) =>
      `${baseUrl}/api/downloads/${downloadToken(signer, orderId, fileId, expiresAt)}`,
    invoiceUrl: (id) => `${baseUrl}/api/invoices/${id}/document.pdf?token=${invoices.sign(id)}`,
    payUrl: (productId, orderId, token, locale) =>
      `${appUrl}/pay/?product=${productId}&order=${orderId}${inLocale(locale)}#p=${token}`,
  }
}
