import { randomBytes } from 'node:crypto'
import { StripeBank, StripeError, type Wire } from './stripe-bank.ts'
import type { Call } from './stripe-server.ts'

// Plays the platform's side of Stripe Connect (https://docs.stripe.com/connect): accounts and their missing details, the links by which
// sellers fill them in, and the fees of direct charges. Each connected account has a bank of its own, with its own objects.

/** How an account stands. A seller who has not begun has none of it. */
export type Standing = 'begun' | 'in review' | 'active' | 'restricted' | 'payouts off' | 'rejected'

const STANDINGS: Record<
  Standing,
  { charges: boolean; payouts: boolean; submitted: boolean; why?: string; due: string[] }
> = {
  begun: {
    charges: false,
    payouts: false,
    submitted: false,
    why: 'requirements.past_due',
    due: ['business_profile.url', 'external_account', 'individual.dob.day', 'tos_acceptance.date'],
  },
  'in review': { charges: false, payouts: false, submitted: true, why: 'requirements.pending_verification', due: [] },
  active: { charges: true, payouts: true, submitted: true, due: [] },
  restricted: {
    charges: false,
    payouts: false,
    submitted: true,
    why: 'requirements.past_due',
    due: ['individual.verification.document'],
  },
  'payouts off': {
    charges: true,
    payouts: false,
    submitted: true,
    why: 'requirements.past_due',
    due: ['external_account'],
  },
  rejected: { charges: false, payouts: false, submitted: true, why: 'rejected.fraud', due: [] },
}

export class StripeConnect {
  readonly accounts: Wire[] = []
  readonly fees: Wire[] = []
  readonly feeRefunds: Wire[] = []
  /** The links that were given out: each opens once, within minutes. */
  readonly links: Wire[] = []
  /** Told of every event of a connected account, with the account. */
  onEvent: (event: Wire) => void = () => {}
  readonly #platform: StripeBank
  readonly #banks = new Map<string, StripeBank>()
  readonly #revoked = new Set<string>()

  constructor(platform: StripeBank) {
    this.#platform = platform
  }

  /** The objects of an account. Stripe does not tell apart an account that is not there from one that gives no access. */
  bankOf(account: string | undefined): StripeBank {
    if (account === undefined) return this.#platform
    const bank = this.#revoked.has(account) ? undefined : this.#banks.get(account)
    if (bank) return bank
    throw new StripeError(403, {
      code: 'account_invalid',
      message: `The provided key 'sk_test_****' does not have access to account '${account}' (or that account does not exist). Application access may have been revoked.`,
    })
  }

  /** The objects of all accounts, also of those without access. */
  banks(): StripeBank[] {
    return [...this.#banks.values()]
  }

  /** The platform's own requests. Undefined: the request is about the objects of one account. */
  carryOut({ method, path, params, account }: Call): Wire | undefined {
    const [, collection, id, rest] =
      /^\/v1\/(accounts|account_links|application_fees)(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? []
    if (!collection || account !== undefined) return undefined
    if (method === 'POST' && collection === 'accounts' && !id) return this.#create(params)
    if (method === 'GET' && collection === 'accounts' && id) {
      this.bankOf(id)
      return this.accounts.find((one) => one['id'] === id)
    }
    if (method === 'POST' && collection === 'account_links') return this.#link(params)
    if (collection !== 'application_fees' || !id) return undefined
    const fee = this.#platform.find(this.fees, 'application fee', id)
    if (method === 'GET' && !rest) return fee
    if (method !== 'POST' || rest !== 'refunds') return undefined
    return this.#refundFee(fee, Number(params['amount'] ?? fee['amount'] - fee['amount_refunded']), params['metadata'])
  }

  /** The seller fills the account in, or Stripe decides about it. */
  stand(id: string, standing: Standing, { silently = false } = {}): void {
    const { charges, payouts, submitted, why, due } = STANDINGS[standing]
    const account = this.accounts.find((one) => one['id'] === id)!
    Object.assign(account, {
      charges_enabled: charges,
      payouts_enabled: payouts,
      details_submitted: submitted,
      requirements: {
        currently_due: due,
        past_due: why === 'requirements.past_due' ? due : [],
        eventually_due: due,
        pending_verification: standing === 'in review' ? ['individual.verification.document'] : [],
        disabled_reason: why ?? null,
        errors: [],
      },
    })
    if (!silently) this.#banks.get(id)!.tell('account.updated', account)
  }

  /** The seller takes back the platform's access, in the dashboard. */
  revoke(id: string): void {
    this.#revoked.add(id)
    this.#banks.get(id)!.tell('account.application.deauthorized', { id: 'ca_till', object: 'application' })
  }

  /** The platform has access again, for example because its own key was the wrong one. */
  restore(id: string): void {
    this.#revoked.delete(id)
  }

  #create(params: Wire): Wire {
    const { controller, metadata = {}, email = null, country = 'US' } = params
    // https://docs.stripe.com/connect/migrate-to-controller-properties: a Standard account has these
    if (controller?.stripe_dashboard?.type !== 'full' || controller?.fees?.payer !== 'account')
      throw new StripeError(400, { message: 'You must specify the controller.', param: 'controller' })
    const id = `acct_${randomBytes(8).toString('hex')}`
    const account = {
      id,
      object: 'account',
      business_profile: { name: null, url: null },
      capabilities: {},
      controller: { ...controller, type: 'application', is_controller: true },
      country,
      created: Math.floor(this.#platform.now() / 1000),
      default_currency: 'usd',
      email,
      metadata,
      settings: { card_payments: { statement_descriptor_prefix: 'SELLER' }, payments: { statement_descriptor: null } },
    }
    const bank = new StripeBank(this.#platform.live, id, {
      whyNoCharges: () =>
        (account as Wire)['charges_enabled'] ? undefined : 'Your account cannot currently make live charges.',
      collectFee: (charge) => this.#collect(id, charge),
      returnFee: (charge) => this.#returnPart(charge),
    })
    bank.statementPrefix = 'SELLER'
    bank.now = () => this.#platform.now()
    bank.onEvent = (event) => this.onEvent({ ...event, account: id })
    this.#banks.set(id, bank)
    this.accounts.push(account)
    this.stand(id, 'begun', { silently: true })
    return account
  }

  #link({ account, refresh_url, return_url, type }: Wire): Wire {
    this.bankOf(account)
    for (const [param, value] of Object.entries({ refresh_url, return_url }))
      if (!/^https?:\/\/.+/.test(value ?? '')) throw new StripeError(400, { message: 'Not a valid URL', param })
    if (type !== 'account_onboarding') throw new StripeError(400, { message: 'Invalid type', param: 'type' })
    const created = Math.floor(this.#platform.now() / 1000)
    const url = `https://connect.stripe.com/setup/e/${account}/${randomBytes(8).toString('hex')}`
    const link = { object: 'account_link', created, expires_at: created + 300, url }
    this.links.push({ ...link, account, refresh_url, return_url })
    return link
  }

  #collect(account: string, charge: Wire): string {
    const fee = {
      id: `fee_${randomBytes(12).toString('hex')}`,
      object: 'application_fee',
      account,
      amount: charge['application_fee_amount'],
      amount_refunded: 0,
      charge: charge['id'],
      created: charge['created'],
      currency: charge['currency'],
      refunded: false,
    }
    this.fees.push(fee)
    return fee.id
  }

  /** How Stripe rounds is not published. This rounds down, so that code which counts on another way shows. */
  #returnPart(charge: Wire): void {
    const fee = this.fees.find(({ id }) => id === charge['application_fee'])!
    const due = Math.floor((fee['amount'] * charge['amount_refunded']) / charge['amount_captured'])
    if (due > fee['amount_refunded']) this.#refundFee(fee, due - fee['amount_refunded'], {})
  }

  #refundFee(fee: Wire, amount: number, metadata: Wire = {}): Wire {
    const left = fee['amount'] - fee['amount_refunded']
    if (left === 0)
      throw new StripeError(400, { message: 'This application fee has already been refunded.' }, { kept: true })
    if (!Number.isInteger(amount) || amount < 1 || amount > left)
      throw new StripeError(400, { message: 'Refund amount is greater than what is left of the fee.' }, { kept: true })
    fee['amount_refunded'] += amount
    fee['refunded'] = fee['amount_refunded'] === fee['amount']
    const refund = {
      id: `fr_${randomBytes(12).toString('hex')}`,
      object: 'fee_refund',
      amount,
      created: Math.floor(this.#platform.now() / 1000),
      currency: fee['currency'],
      fee: fee['id'],
      metadata,
    }
    this.feeRefunds.push(refund)
    this.#banks.get(fee['account'])!.move(refund.id, 'application_fee_refund', amount, fee['currency'])
    return refund
  }
}
