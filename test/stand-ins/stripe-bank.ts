import { randomBytes } from 'node:crypto'

// Plays Stripe's own data of an account's payments, with the buyers and their banks: made from its published API
// (https://docs.stripe.com/api), for test/stand-ins/stripe-server.ts.

/** An object as it goes over the wire. */
export type Wire = Record<string, any>

export class StripeError extends Error {
  readonly status: number
  readonly body: Wire
  /** Refused by the endpoint itself, and not before it began: such a "no" is remembered under its idempotency key. */
  readonly kept: boolean
  constructor(status: number, error: Wire, { kept = false } = {}) {
    super(error['message'])
    this.kept = kept
    this.status = status
    this.body = { error: { type: 'invalid_request_error', ...error } }
  }
}

export type Outcome = 'succeed' | 'decline' | 'processing' | 'requires_action'

const OPEN = new Set(['requires_payment_method', 'requires_confirmation', 'requires_action', 'requires_capture'])
const THREE_DECIMAL = 'bhd jod kwd omr tnd'.split(' ')
/** Its least and most differ by currency (https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts). */
const LEAST: Wire = { usd: 50, eur: 50, gbp: 30, jpy: 50, inr: 50, sek: 300, huf: 17_500 }
const MOST_IN: Wire = { cop: 9_999_999_999, idr: 999_999_999_999, inr: 999_999_999 }

/** The data that a connected account has of its platform (https://docs.stripe.com/connect/direct-charges). */
export interface Platform {
  /** Why the account takes no payments now, if it takes none. */
  whyNoCharges(): string | undefined
  /** The platform gets its fee of a payment that succeeded. Returns the fee's id. */
  collectFee(charge: Wire): string
  /** A part of the fee goes back with a refund: the part of the payment that is refunded by then. */
  returnFee(charge: Wire): void
}

export class StripeBank {
  readonly live: boolean
  readonly accountId: string
  /** Present for a connected account. */
  readonly platform: Platform | undefined
  /** All lists are kept oldest first. */
  readonly paymentIntents: Wire[] = []
  readonly charges: Wire[] = []
  readonly refunds: Wire[] = []
  readonly disputes: Wire[] = []
  readonly events: Wire[] = []
  readonly payouts: Wire[] = []
  readonly balanceTransactions: Wire[] = []
  readonly webhookEndpoints: Wire[] = []
  readonly methodDomains: Wire[] = []
  /** Unix time in milliseconds: a test may live on another day. */
  now: () => number = Date.now
  /** How the next refunds begin: `pending` where the balance is empty or the buyer's bank is slow. */
  refundsBegin: 'succeeded' | 'pending' | 'requires_action' = 'succeeded'
  /**
   * For a lost dispute: the amount that was refunded before. It comes back only if the seller has proved the refund, and `after
   * closed` with `returnLate`.
   */
  returnsRefunded: 'never' | 'after closed' | 'before closed' = 'before closed'
  /** The methods that are enabled in the dashboard, and activated. */
  readonly switchedOn = new Set(['card', 'link', 'apple_pay', 'google_pay'])
  /** The methods that are disabled in the dashboard, or were never activated. */
  readonly notActivated = new Set<string>()
  /** The account's shortened descriptor: the text before each suffix on a card's statement. */
  statementPrefix = 'TILL'
  /** The currency of the account's country. */
  defaultCurrency = 'usd'
  /** `takeFee` takes each fee, and not the payment. */
  takesFeesLater = false
  /** The balance is empty and refunds are refused. */
  refusesRefunds = false
  private readonly owed = new Map<string, number>()
  /** Told of every event at once. */
  onEvent: (event: Wire) => void = () => {}

  constructor(live: boolean, accountId = 'acct_till', platform?: Platform) {
    this.live = live
    this.accountId = accountId
    this.platform = platform
  }

  /** A host for wallets. Asked for again, it is the one that is there. */
  addMethodDomain(domain_name: string, enabled = true): Wire {
    if (!/^[a-z0-9.-]+\.[a-z0-9-]+$/.test(domain_name))
      throw new StripeError(400, { message: 'Not a valid domain name.', param: 'domain_name' })
    const known = this.methodDomains.find((one) => one['domain_name'] === domain_name)
    if (known) return known
    const active = { status: 'active' }
    const domain = {
      id: `pmd_${randomBytes(9).toString('hex')}`,
      object: 'payment_method_domain',
      apple_pay: active,
      google_pay: active,
      link: active,
      created: Math.floor(this.now() / 1000),
      domain_name,
      enabled,
      livemode: this.live,
    }
    this.methodDomains.push(domain)
    return domain
  }

  /** A change in the dashboard: events of these types go to `url` from now on. */
  addWebhookEndpoint(url: string, types: readonly string[] = ['*'], { connect = false } = {}): Wire {
    const endpoint = {
      id: `we_${randomBytes(9).toString('hex')}`,
      object: 'webhook_endpoint',
      api_version: null,
      application: connect ? 'ca_till' : null,
      created: Math.floor(this.now() / 1000),
      description: null,
      enabled_events: [...types],
      livemode: this.live,
      metadata: {},
      status: 'enabled',
      url,
    }
    this.webhookEndpoints.push(endpoint)
    return endpoint
  }

  // ── a shop's requests

  createIntent(params: Wire): Wire {
    const { amount, currency, statement_descriptor_suffix: suffix } = params
    checkAmount(Number(amount), String(currency))
    const feeAmount = this.checkFee(params['application_fee_amount'], Number(amount))
    const whyNot = this.platform?.whyNoCharges()
    if (whyNot) throw new StripeError(400, { message: whyNot }, { kept: true })
    if (suffix !== undefined) this.checkSuffix(String(suffix))
    const automatic = params['automatic_payment_methods']?.enabled === 'true'
    // https://docs.stripe.com/changelog/endive/2026-09-30/removes-the-payment-method-types-parameter-from-payment-intents-and-setup-intents
    if (params['payment_method_types'])
      throw new StripeError(400, {
        message: 'The payment_method_types parameter is no longer supported.',
        code: 'payment_method_types_no_longer_supported',
        param: 'payment_method_types',
      })
    const allowed = params['allowed_payment_method_types'] as string[] | undefined
    // https://docs.stripe.com/changelog/dahlia/2026-07-29/allowed-payment-method-types-parameter
    if (allowed && (automatic || params['excluded_payment_method_types']))
      throw new StripeError(400, { message: 'You may only specify one of these', code: 'parameters_exclusive' })
    const excluded = (params['excluded_payment_method_types'] ?? []) as string[]
    const offered = (allowed ?? ['card', 'link']).filter(
      (one) => !this.notActivated.has(one) && !excluded.includes(one),
    )
    if (offered.length === 0)
      throw new StripeError(
        400,
        {
          message:
            'No valid payment method types for this Payment Intent. Please ensure that you have activated payment methods compatible with your chosen currency in your dashboard.',
          code: 'payment_intent_invalid_parameter',
          param: 'allowed_payment_method_types',
        },
        { kept: true },
      )
    const id = newId('pi')
    const intent = {
      id,
      object: 'payment_intent',
      amount: Number(amount),
      amount_received: 0,
      application_fee_amount: feeAmount,
      automatic_payment_methods: automatic ? { allow_redirects: 'always', enabled: true } : null,
      canceled_at: null,
      capture_method: 'automatic_async',
      client_secret: `${id}_secret_${randomBytes(12).toString('hex')}`,
      created: this.seconds(),
      currency,
      latest_charge: null,
      livemode: this.live,
      metadata: params['metadata'] ?? {},
      allowed_payment_method_types: allowed ?? null,
      payment_method_types: offered,
      excluded_payment_method_types: excluded,
      statement_descriptor: params['statement_descriptor'] ?? null,
      statement_descriptor_suffix: suffix ?? null,
      status: 'requires_payment_method',
    }
    this.paymentIntents.push(intent)
    this.tell('payment_intent.created', intent)
    return intent
  }

  /** https://docs.stripe.com/connect/direct-charges#collect-fees: positive, at most the payment, and only of a connected account. */
  private checkFee(fee: string | undefined, amount: number): number | null {
    if (fee === undefined) return null
    const no = (message: string, code?: string) =>
      new StripeError(400, { message, code, param: 'application_fee_amount' })
    if (!this.platform)
      throw no(
        'Can only apply an application_fee_amount when the PaymentIntent is attempting a direct payment (using an OAuth key or Stripe-Account header) or destination payment.',
      )
    if (!/^[1-9]\d*$/.test(fee)) throw no(`Invalid integer: ${fee}`, 'parameter_invalid_integer')
    if (Number(fee) > amount) throw no('Your application fee cannot be larger than the amount of the payment.')
    return Number(fee)
  }

  /** https://docs.stripe.com/get-started/account/statement-descriptors: of a complete descriptor, and of both of its parts. */
  private checkSuffix(suffix: string): void {
    const letters = /^[\x20-\x7e]{2,22}$/.test(suffix) && /[A-Za-z]/.test(suffix) && !/[<>\\'"*]/.test(suffix)
    if (letters && this.lineOf(suffix).length <= 22) return
    throw new StripeError(400, {
      message: `The statement descriptor suffix is not valid, or \`${this.lineOf(suffix)}\` has more than 22 characters.`,
      param: 'statement_descriptor_suffix',
    })
  }

  private lineOf(suffix: string | null): string {
    return suffix === null ? this.statementPrefix : `${this.statementPrefix}* ${suffix}`
  }

  /** https://docs.stripe.com/api/payment_method_configurations/object: not the default, for accounts below, inactive, and its own. */
  methodConfigurations(): Wire[] {
    const of = (id: string, more: Wire, on: (way: string) => boolean): Wire => ({
      id,
      object: 'payment_method_configuration',
      active: true,
      application: null,
      created: 1_700_000_000,
      is_default: false,
      livemode: this.live,
      name: 'Default',
      parent: null,
      ...more,
      ...Object.fromEntries(
        CONFIGURABLE.map((way) => {
          const value = on(way) ? 'on' : 'off'
          return [way, { available: on(way), display_preference: { overridable: null, preference: value, value } }]
        }),
      ),
    })
    return [
      of('pmc_another', { name: 'For the terminal' }, () => true),
      of('pmc_below', { is_default: true, application: 'ca_till', parent: 'pmc_parent' }, () => true),
      of('pmc_old', { is_default: true, active: false }, () => true),
      of('pmc_own', { is_default: true }, (way) => this.switchedOn.has(way) && !this.notActivated.has(way)),
    ]
  }

  /** The account's description of itself (https://docs.stripe.com/api/accounts/object). */
  account(): Wire {
    return {
      id: this.accountId,
      object: 'account',
      country: 'US',
      default_currency: this.defaultCurrency,
      settings: {
        card_payments: { statement_descriptor_prefix: this.statementPrefix },
        payments: { statement_descriptor: `${this.statementPrefix} SHOP` },
      },
    }
  }

  cancel(id: string, params: Wire = {}): Wire {
    const intent = this.find(this.paymentIntents, 'payment_intent', id)
    if (!OPEN.has(intent['status']))
      throw new StripeError(400, {
        code: 'payment_intent_unexpected_state',
        message: `You cannot cancel this PaymentIntent because it has a status of ${intent['status']}.`,
        payment_intent: intent,
      })
    Object.assign(intent, {
      status: 'canceled',
      canceled_at: this.seconds(),
      cancellation_reason: params['cancellation_reason'] ?? null,
    })
    this.tell('payment_intent.canceled', intent)
    return intent
  }

  createRefund(params: Wire): Wire {
    const charge = params['charge']
      ? this.find(this.charges, 'charge', params['charge'])
      : this.chargeOf(params['payment_intent'])
    const no = (message: string, code?: string) => new StripeError(400, { message, code }, { kept: true })
    if (charge['status'] !== 'succeeded') throw no('This charge cannot be refunded.')
    if (this.disputes.some((one) => one['charge'] === charge['id'] && isClaim(one)))
      throw no(`Charge ${charge['id']} has been charged back; cannot issue a refund.`, 'charge_disputed')
    if (this.refusesRefunds)
      throw no('Insufficient funds in your balance to refund this amount.', 'balance_insufficient')
    const rest = charge['amount_captured'] - charge['amount_refunded']
    if (rest === 0) throw no(`Charge ${charge['id']} has already been refunded.`, 'charge_already_refunded')
    const amount = params['amount'] === undefined ? rest : Number(params['amount'])
    if (!Number.isInteger(amount) || amount < 1 || amount > rest)
      throw no('Refund amount is greater than what is left.')
    const refund = {
      id: newId(charge['id'].startsWith('py') ? 'pyr' : 're'),
      object: 'refund',
      amount,
      charge: charge['id'],
      created: this.seconds(),
      currency: charge['currency'],
      metadata: params['metadata'] ?? {},
      payment_intent: charge['payment_intent'],
      reason: params['reason'] ?? null,
      status: this.refundsBegin,
    }
    const withFee = params['refund_application_fee'] === 'true'
    if (withFee && !charge['application_fee']) throw no('This charge has no application fee to refund.')
    charge['amount_refunded'] += amount
    charge['refunded'] = charge['amount_refunded'] === charge['amount_captured']
    this.refunds.push(refund)
    this.move(refund.id, 'refund', -amount, charge['currency'])
    if (withFee) this.platform!.returnFee(charge)
    this.tell('refund.created', refund)
    this.tell('charge.refunded', charge)
    return refund
  }

  // ── actions of buyers and their banks

  /** The buyer pays, with a card or any other way by Stripe's name (`apple_pay`, `google_pay`, `debit_card` are cards). */
  confirm(id: string, { method = 'card', outcome = 'succeed' }: { method?: string; outcome?: Outcome } = {}): Wire {
    const intent = this.find(this.paymentIntents, 'payment_intent', id)
    if (!OPEN.has(intent['status']))
      throw new StripeError(400, { code: 'payment_intent_unexpected_state', message: intent['status'] })
    if (intent['excluded_payment_method_types'].includes(method))
      throw new StripeError(400, { code: 'payment_intent_invalid_parameter', message: `${method} is excluded` })
    intent['next_action'] = null
    const paidWith = methodDetails(method)
    if (paidWith['type'] === 'card' && intent['statement_descriptor'])
      throw new StripeError(400, {
        message: 'statement_descriptor is not supported for card charges',
        param: 'statement_descriptor',
      })
    if (outcome === 'requires_action') {
      const voucher = ['boleto', 'konbini', 'multibanco', 'oxxo'].includes(method)
      const type = voucher ? `${method}_display_details` : 'use_stripe_sdk'
      const instructions = voucher ? { hosted_voucher_url: `https://pay.stripe.com/voucher/${id}` } : {}
      Object.assign(intent, { status: 'requires_action', next_action: { type, [type]: instructions } })
      this.tell('payment_intent.requires_action', intent)
      return intent
    }
    const charge = {
      id: newId(paidWith['type'] === 'card' ? 'ch' : 'py'),
      object: 'charge',
      amount: intent['amount'],
      amount_captured: 0,
      amount_refunded: 0,
      application_fee: null,
      application_fee_amount: intent['application_fee_amount'],
      balance_transaction: null,
      calculated_statement_descriptor:
        paidWith['type'] === 'card' ? this.lineOf(intent['statement_descriptor_suffix']) : null,
      captured: false,
      created: this.seconds(),
      currency: intent['currency'],
      disputed: false,
      failure_code: null,
      livemode: this.live,
      metadata: { ...intent['metadata'] },
      paid: false,
      payment_intent: intent['id'],
      payment_method_details: paidWith,
      refunded: false,
      status: 'pending',
    }
    this.charges.push(charge)
    intent['latest_charge'] = charge.id
    if (outcome === 'processing') {
      intent['status'] = 'processing'
      this.tell('charge.pending', charge)
      this.tell('payment_intent.processing', intent)
      return intent
    }
    return this.finish(id, outcome === 'succeed' ? 'succeed' : 'fail')
  }

  /** Stripe may do this up to an hour after the payment. */
  takeFee(charge: Wire): void {
    charge['application_fee'] = this.platform!.collectFee(charge)
  }

  /** The bank that was working on it has decided. */
  finish(id: string, how: 'succeed' | 'fail'): Wire {
    const intent = this.find(this.paymentIntents, 'payment_intent', id)
    const charge = this.find(this.charges, 'charge', intent['latest_charge'])
    if (charge['status'] !== 'pending') throw new Error(`the bank has decided already: ${charge['status']}`)
    if (how === 'succeed') {
      Object.assign(charge, { status: 'succeeded', paid: true, captured: true, amount_captured: charge['amount'] })
      Object.assign(intent, { status: 'succeeded', amount_received: charge['amount'] })
      if (charge['application_fee_amount'] && !this.takesFeesLater) this.takeFee(charge)
      this.move(charge['id'], 'charge', charge['amount'], charge['currency'], charge['application_fee_amount'] ?? 0)
      this.tell('charge.succeeded', charge)
      this.tell('payment_intent.succeeded', intent)
    } else {
      Object.assign(charge, { status: 'failed', failure_code: 'card_declined' })
      intent['status'] = 'requires_payment_method'
      this.tell('charge.failed', charge)
      this.tell('payment_intent.payment_failed', intent)
    }
    return intent
  }

  refundInDashboard(id: string, amount?: number): Wire {
    return this.createRefund({ payment_intent: id, ...(amount !== undefined && { amount }) })
  }

  /** A refund that waited has arrived. */
  settleRefund(id: string): void {
    const refund = this.find(this.refunds, 'refund', id)
    refund['status'] = 'succeeded'
    this.tell('refund.updated', refund)
  }

  /** The buyer's bank could not take it: days later the money is in the shop's balance again. */
  failRefund(id: string): void {
    const refund = this.find(this.refunds, 'refund', id)
    const charge = this.find(this.charges, 'charge', refund['charge'])
    if (refund['status'] === 'failed') throw new Error('this refund has failed already')
    Object.assign(refund, { status: 'failed', failure_reason: 'expired_or_canceled_card' })
    charge['amount_refunded'] -= refund['amount']
    charge['refunded'] = false
    this.move(refund['id'], 'refund_failure', refund['amount'], charge['currency'])
    this.tell('refund.updated', refund)
    this.tell('refund.failed', refund)
    this.tell('charge.refund.updated', refund)
  }

  openDispute(
    id: string,
    { amount, currency, status = 'needs_response', dueBy = this.seconds() + 7 * 86_400 }: Wire = {},
  ): Wire {
    const charge = this.chargeOf(id)
    const dispute = {
      id: newId('du'),
      object: 'dispute',
      amount: amount ?? charge['amount_captured'],
      balance_transactions: [],
      charge: charge['id'],
      created: this.seconds(),
      currency: currency ?? charge['currency'],
      evidence_details: { due_by: dueBy, has_evidence: false, past_due: false, submission_count: 0 },
      livemode: this.live,
      payment_intent: charge['payment_intent'],
      reason: 'fraudulent',
      status,
    }
    charge['disputed'] = true
    this.disputes.push(dispute)
    this.tell('charge.dispute.created', dispute)
    if (isClaim(dispute)) this.withdraw(dispute)
    return dispute
  }

  moveDispute(id: string, status: string): void {
    const dispute = this.find(this.disputes, 'dispute', id)
    dispute['status'] = status
    this.tell('charge.dispute.updated', dispute)
    if (isClaim(dispute) && dispute['balance_transactions'].length === 0) this.withdraw(dispute)
  }

  closeDispute(id: string, status: 'won' | 'lost' | 'warning_closed' | 'prevented'): void {
    const dispute = this.find(this.disputes, 'dispute', id)
    dispute['status'] = status
    // an amount that was refunded before can come back, and the dispute is still called lost
    const back = status === 'won' ? dispute['amount'] : status === 'lost' ? this.overdrawnBy(dispute) : 0
    const later = status === 'lost' && this.returnsRefunded !== 'before closed'
    if (later && back > 0 && this.returnsRefunded === 'after closed') this.owed.set(id, back)
    if (!later) this.giveBack(dispute, back)
    this.tell('charge.dispute.closed', dispute)
    if (!later && back > 0) this.tell('charge.dispute.funds_reinstated', dispute)
  }

  /** Returns the money that lost disputes still owe the shop, of all of them or of one. False: there was none. */
  returnLate(id?: string): boolean {
    const due = [...this.owed].filter(([one]) => id === undefined || one === id)
    for (const [one, back] of due) {
      this.owed.delete(one)
      const dispute = this.find(this.disputes, 'dispute', one)
      this.giveBack(dispute, back)
      this.tell('charge.dispute.funds_reinstated', dispute)
    }
    return due.length > 0
  }

  private giveBack(dispute: Wire, amount: number): void {
    if (amount <= 0) return
    dispute['balance_transactions'].push({ object: 'balance_transaction', amount, type: 'adjustment' })
    this.move(dispute['id'], 'adjustment', amount, dispute['currency'])
  }

  private withdraw(dispute: Wire): void {
    const amount = -dispute['amount']
    dispute['balance_transactions'].push({ object: 'balance_transaction', amount, type: 'adjustment' })
    this.move(dispute['id'], 'adjustment', amount, dispute['currency'])
    this.tell('charge.dispute.funds_withdrawn', dispute)
  }

  // ── the account's balance, and its payouts to the bank (https://docs.stripe.com/payouts/reconciliation)

  /** A movement of the balance. It waits for the next payout of its currency. */
  move(source: string, type: string, amount: number, currency: string, fee = 0): Wire {
    const moved = {
      id: newId('txn'),
      object: 'balance_transaction',
      amount,
      created: this.seconds(),
      currency,
      fee,
      net: amount - fee,
      source,
      type,
      payout: null as string | null,
    }
    this.balanceTransactions.push(moved)
    return moved
  }

  /** All that the balance holds in a currency is on its way to the bank. */
  payOut(currency: string): Wire {
    const moved = this.balanceTransactions.filter((one) => one['payout'] === null && one['currency'] === currency)
    const amount = moved.reduce((sum, { net }) => sum + net, 0)
    if (amount <= 0) throw new Error('the balance has nothing to pay out')
    const payout = {
      id: newId('po'),
      object: 'payout',
      amount,
      arrival_date: this.seconds() + 2 * 86_400,
      automatic: true,
      created: this.seconds(),
      currency,
      failure_code: null as string | null,
      livemode: this.live,
      reconciliation_status: 'completed',
      status: 'in_transit',
      trace_id: { status: 'pending', value: null as string | null },
    }
    for (const one of moved) one['payout'] = payout.id
    this.payouts.push(payout)
    this.move(payout.id, 'payout', -amount, currency)['payout'] = payout.id
    this.tell('payout.created', payout)
    return payout
  }

  /** The bank has it, or sends it back: also days after it seemed to be paid. Or it is cancelled before the bank has it. */
  endPayout(id: string, status: 'paid' | 'failed' | 'canceled'): void {
    const payout = this.find(this.payouts, 'payout', id)
    Object.assign(payout, { status, failure_code: status === 'failed' ? 'account_closed' : null })
    if (status === 'paid') payout['trace_id'] = { status: 'supported', value: `TRACE${id.slice(-8)}` }
    if (status !== 'paid')
      this.move(id, status === 'failed' ? 'payout_failure' : 'payout_cancel', payout['amount'], payout['currency'])
    this.tell(`payout.${status}`, payout)
  }

  /** By how much more would have gone back than came in. */
  private overdrawnBy(dispute: Wire): number {
    const charge = this.find(this.charges, 'charge', dispute['charge'])
    if (charge['currency'] !== dispute['currency']) return 0
    const lost = this.disputes
      .filter((one) => one['charge'] === charge['id'] && one['status'] === 'lost')
      .flatMap((one) => one['balance_transactions'].map((moved: Wire) => -moved['amount']))
      .reduce((sum: number, amount: number) => sum + amount, 0)
    return Math.min(dispute['amount'], Math.max(0, charge['amount_refunded'] + lost - charge['amount_captured']))
  }

  find(list: readonly Wire[], kind: string, id: string): Wire {
    const found = list.find((one) => one['id'] === id)
    if (!found)
      throw new StripeError(404, { code: 'resource_missing', message: `No such ${kind}: '${id}'`, param: 'id' })
    return found
  }

  private chargeOf(id: string): Wire {
    return this.find(this.charges, 'charge', this.find(this.paymentIntents, 'payment_intent', id)['latest_charge'])
  }

  tell(type: string, object: Wire): void {
    const event = {
      id: newId('evt'),
      object: 'event',
      api_version: '2026-10-28.endive',
      created: this.seconds(),
      data: { object: structuredClone(object) },
      livemode: this.live,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    }
    this.events.push(event)
    this.onEvent(event)
  }

  private seconds(): number {
    return Math.floor(this.now() / 1000)
  }
}

const CONFIGURABLE =
  'alipay apple_pay bancontact card cartes_bancaires google_pay ideal klarna link sepa_debit us_bank_account'.split(' ')

/** It has taken the money, or would not give it back. */
const isClaim = ({ status }: Wire): boolean =>
  status !== 'won' && status !== 'prevented' && !status.startsWith('warning_')

function checkAmount(amount: number, currency: string): void {
  if (!/^[a-z]{3}$/.test(currency))
    throw new StripeError(400, { message: `Invalid currency: ${currency}`, param: 'currency' })
  if (!Number.isInteger(amount) || amount < 1)
    throw new StripeError(400, { code: 'parameter_invalid_integer', message: 'Invalid integer', param: 'amount' })
  if (THREE_DECIMAL.includes(currency) && amount % 10 !== 0)
    throw new StripeError(400, { message: 'The last digit must be 0', param: 'amount' })
  if (['isk', 'ugx'].includes(currency) && amount % 100 !== 0)
    throw new StripeError(400, { message: 'Fractions of this currency cannot be charged', param: 'amount' })
  if (amount < (LEAST[currency] ?? 1))
    throw new StripeError(400, { code: 'amount_too_small', message: 'Amount is too small', param: 'amount' })
  if (amount > (MOST_IN[currency] ?? 99_999_999))
    throw new StripeError(400, { code: 'amount_too_large', message: 'Amount is too large', param: 'amount' })
}

function methodDetails(method: string): Wire {
  const card = (funding: string, wallet: string | null = null) => ({
    type: 'card',
    card: { brand: 'visa', funding, last4: '4242', wallet: wallet && { type: wallet, dynamic_last4: null } },
  })
  switch (method) {
    case 'card':
      return card('credit')
    case 'debit_card':
      return card('debit')
    case 'apple_pay':
    case 'google_pay':
    case 'amex_express_checkout':
      return card('credit', method)
    default:
      return { type: method, [method]: {} }
  }
}

const newId = (kind: string): string => `${kind}_${randomBytes(12).toString('hex')}`
