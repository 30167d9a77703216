import type { Bare, Service } from './service.ts'
import type { Database, World } from './world.ts'

/** One service on one database. */
export interface Shop {
  /** How many orders its database had, in words. */
  orders: string
  database: Database
  service: Service
}

/** The state at the beginning of a measurement. */
export interface Stage {
  world: World
  /** From few orders to many. */
  shops: Shop[]
  /** The one with the most orders: its rates are measured. */
  busy: Shop
  /** On that one's database. */
  bare: Bare
}
