import type { Proposal } from './proposals.ts'
import { proposeDiscount, proposeKey, proposeProductChange, proposeRefund } from './proposals.ts'

/** One route, as a program that acts for a seller sees it. */
export interface Tool {
  name: string
  /** The route, by its name in the API's description. Its schema is the tool's, and it checks every call. */
  operationId: string
  /** Members of the route that the tool does not offer. */
  without?: readonly string[]
  /** The call only proposes. The seller confirms it on a page, and the server then makes the request. */
  propose?: Proposal
}

/** A call that moves money, changes a price or opens the account only proposes, and needs only a scope to read. */
export const TOOLS: readonly Tool[] = [
  { name: 'list_products', operationId: 'listProducts' },
  { name: 'get_product', operationId: 'getOwnProduct' },
  { name: 'create_product', operationId: 'createProduct' },
  { name: 'change_product', operationId: 'changeProduct', propose: proposeProductChange },
  { name: 'list_orders', operationId: 'listOrders', without: ['format'] },
  { name: 'get_order', operationId: 'getOrder' },
  { name: 'resend_receipt', operationId: 'resendReceipt' },
  { name: 'refund_order', operationId: 'refundOrder', propose: proposeRefund },
  { name: 'list_discounts', operationId: 'listDiscounts' },
  { name: 'create_discount', operationId: 'createDiscount', propose: proposeDiscount },
  { name: 'get_balance', operationId: 'getBalance' },
  { name: 'list_transfers', operationId: 'listTransfers', without: ['format'] },
  { name: 'get_statistics', operationId: 'getStats' },
  { name: 'list_events', operationId: 'listEvents' },
  { name: 'create_key', operationId: 'createKey', propose: proposeKey },
  { name: 'get_proposal', operationId: 'getConfirmation' },
]
