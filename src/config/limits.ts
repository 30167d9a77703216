import type { Limit } from '../kit/limits.ts'

/** Every limit there is, and how much it allows where LIMITS does not say otherwise. */
export const LIMITS = {
  // of each network, on every route but probes and notifications: reading a large body costs milliseconds, whoever sends it
  request: { count: 3000, seconds: 60 },
  checkout: { count: 30, seconds: 60 },
  checkout_product: { count: 1000, seconds: 60 },
  status: { count: 60, seconds: 60 },
  wrong_email: { count: 10, seconds: 3600 },
  // of each network, and given back where the code was right
  discount: { count: 100, seconds: 3600 },
  // Receipts of free orders. Anybody can order what is free for anybody, so they are counted: of each mailbox, of each network,
  // and where the operator does not trust the seller yet, of that seller and of all such sellers together.
  free_mail: { count: 10, seconds: 3600 },
  free_mail_network: { count: 100, seconds: 86_400 },
  free_mail_seller: { count: 20, seconds: 86_400 },
  free_mail_strangers: { count: 200, seconds: 86_400 },
  receipt: { count: 5, seconds: 3600 },
  sandbox: { count: 60, seconds: 60 },
  code: { count: 3, seconds: 900 },
  code_address: { count: 10, seconds: 3600 },
  code_try: { count: 10, seconds: 3600 },
  // 1440 wrong codes a day of a million: the chance to find one is at most 1.5 in a thousand a day, however many ask
  mailbox: { count: 60, seconds: 3600 },
  // Of those, from one IPv6 /48. One subscriber can have all of it, and three such still leave what is kept for known browsers.
  mailbox_site: { count: 15, seconds: 3600 },
  password: { count: 10, seconds: 900 },
  idp: { count: 30, seconds: 60 },
} satisfies Record<string, Limit>

export type Limits = Partial<Record<keyof typeof LIMITS, Limit>>
