import type { ComponentType } from 'preact'
import type { Seller } from '../ui/auth-api.ts'

/** What every view is given. */
export interface ViewProps {
  seller: Seller
  /** The `:id` of its address; '' where it has none. */
  id: string
  /** What stands behind the `?` of its address. */
  query: URLSearchParams
}

type Load = () => Promise<{ default: ComponentType<ViewProps> }>

interface View {
  /** Its address behind `/shop/#/`. */
  at: string
  /** Where it stands in the navigation. */
  under: 'overview' | 'products' | 'orders' | 'money'
  load: Load
}

/** Every view of the shop. Each is loaded when it is first looked at. */
export const VIEWS = {
  overview: { at: '', under: 'overview', load: () => import('./overview/overview-view.tsx') },
  products: { at: 'products', under: 'products', load: () => import('./products/products-view.tsx') },
  product: { at: 'products/:id', under: 'products', load: () => import('./products/product-view.tsx') },
  orders: { at: 'orders', under: 'orders', load: () => import('./orders/orders-view.tsx') },
  order: { at: 'orders/:id', under: 'orders', load: () => import('./orders/order-view.tsx') },
  money: { at: 'money', under: 'money', load: () => import('./money/money-view.tsx') },
} as const satisfies Record<string, View>

export type ViewName = keyof typeof VIEWS
