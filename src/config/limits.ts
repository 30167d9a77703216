import type { Limit } from '../kit/limits.ts'

/** All limits, with their defaults. LIMITS overrides them. */
export const LIMITS = {
  // for each network, on all routes except probes and notifications, because reading a large body takes milliseconds
  request: { count: 3000, seconds: 60 },
  // for each API key
  key: { count: 600, seconds: 60 },
  // new secrets of API keys, for each seller; each sends a mail
  key_secret: { count: 30, seconds: 3600 },
  // new addresses of webhook endpoints, for each seller; each sends a mail
  endpoint_address: { count: 30, seconds: 3600 },
  // hosts that a seller adds; each is told to the processors
  site: { count: 60, seconds: 3600 },
  // other support addresses, for each seller; each sends a mail
  support_address: { count: 10, seconds: 3600 },
  // links to a seller's account at the processor, and details sent there: it counts all requests of the operator together
  payout_account: { count: 20, seconds: 3600 },
  checkout: { count: 30, seconds: 60 },
  // a launch has 10,000 buyers of one product in a minute
  checkout_product: { count: 20_000, seconds: 60 },
  status: { count: 60, seconds: 60 },
  // for each network; an accountant takes all documents of a month at once
  invoice: { count: 300, seconds: 60 },
  wrong_email: { count: 10, seconds: 3600 },
  // for each network; only wrong codes count
  discount: { count: 100, seconds: 3600 },
  // Receipts of free orders. Anybody can order a free product with any address, so they count for each mailbox and each network. Those
  // of untrusted sellers count for each such seller and for all of them together too.
  free_mail: { count: 10, seconds: 3600 },
  free_mail_network: { count: 100, seconds: 86_400 },
  free_mail_seller: { count: 20, seconds: 86_400 },
  free_mail_strangers: { count: 200, seconds: 86_400 },
  receipt: { count: 5, seconds: 3600 },
  // statements of withdrawal, for each network and for each mailbox that gets their acknowledgements
  withdrawal: { count: 10, seconds: 3600 },
  sandbox: { count: 60, seconds: 60 },
  code: { count: 3, seconds: 900 },
  code_address: { count: 10, seconds: 3600 },
  code_try: { count: 10, seconds: 3600 },
  // 1440 wrong codes a day of a million possible ones: the chance to guess a code is at most 1.5 in a thousand a day, from any number
  // of networks
  mailbox: { count: 60, seconds: 3600 },
  // The share of one IPv6 /48, which one subscriber can own. Three such subscribers still leave the part reserved for known browsers.
  mailbox_site: { count: 15, seconds: 3600 },
  password: { count: 10, seconds: 900 },
  idp: { count: 30, seconds: 60 },
} satisfies Record<string, Limit>

export type Limits = Partial<Record<keyof typeof LIMITS, Limit>>
