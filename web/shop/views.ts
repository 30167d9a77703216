import type { ComponentType } from 'preact'
import type { Seller } from '../ui/auth-api.ts'

/** The props of every view. */
export interface ViewProps {
  seller: Seller
  /** The `:id` of its address, or '' where it has none. */
  id: string
  /** The query of its address, behind the `?`. */
  query: URLSearchParams
}

type Load = () => Promise<{ default: ComponentType<ViewProps> }>

interface View {
  /** Its address behind `/shop/#/`. */
  at: string
  /** Its place in the navigation. */
  under: 'overview' | 'products' | 'orders' | 'money' | 'developers'
  load: Load
}

/** Every view of the shop. Each is loaded on the first visit. */
export const VIEWS = {
  overview: { at: '', under: 'overview', load: () => import('./overview/overview-view.tsx') },
  products: { at: 'products', under: 'products', load: () => import('./products/products-view.tsx') },
  product: { at: 'products/:id', under: 'products', load: () => import('./products/product-view.tsx') },
  orders: { at: 'orders', under: 'orders', load: () => import('./orders/orders-view.tsx') },
  order: { at: 'orders/:id', under: 'orders', load: () => import('./orders/order-view.tsx') },
  confirm: { at: 'confirm/:id', under: 'overview', load: () => import('./confirm/confirm-view.tsx') },
  money: { at: 'money', under: 'money', load: () => import('./money/money-view.tsx') },
  payout: { at: 'money/payouts/:id', under: 'money', load: () => import('./money/payout-view.tsx') },
  developers: {
    at: 'developers',
    under: 'developers',
    load: () => import('./developers/developers-view.tsx'),
  },
  endpoint: {
    at: 'developers/endpoints/:id',
    under: 'developers',
    load: () => import('./developers/endpoints/endpoint-view.tsx'),
  },
} as const satisfies Record<string, View>

export type ViewName = keyof typeof VIEWS
