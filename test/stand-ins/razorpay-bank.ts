import assert from 'node:assert/strict'
import type http from 'node:http'
import { type Json, Refused, checkNotes, nowSeconds, razorpayId } from './razorpay-refusal.ts'
import { newRoute } from './razorpay-route.ts'

// Plays Razorpay by its published API (https://razorpay.com/docs/api): its entities, how they change, and its strict refusals. The
// test plays the buyer, the bank and the person at the dashboard.

export type Outcome =
  | 'created'
  | 'authorized'
  | 'captured'
  | 'failed'
  | 'failed_then_authorized'
  | 'failed_then_captured'

export interface Request {
  method: string
  path: string
  query: URLSearchParams
  headers: http.IncomingHttpHeaders
  body: Json
}

const LIST_QUERY = ['from', 'to', 'count', 'skip']

/** `emit` gets each event, with its entities. */
export function newBank(emit: (event: string, about: Json, account?: string) => void) {
  const orders = new Map<string, Json>()
  const payments = new Map<string, Json>()
  const refunds = new Map<string, Json>()
  const disputes = new Map<string, Json>()
  /** The refunds that a lost dispute led to. The API does not name the dispute. */
  const lossRefunds = new Set<string>()
  /** Further data of an order that the API does not show: how it is captured. */
  const captures = new Map<string, string>()
  const idempotent = new Map<string, { body: string; answer?: Json }>()
  /** The refunds with a key that are carried out, and not answered yet. */
  const busy = new Map<string, Request>()

  const route = newRoute({ payments, emit, list, allow, need })
  const bank = {
    orders,
    payments,
    refunds,
    disputes,
    route,
    /** An account's behaviour for a repeated receipt. */
    receipts: 'same_order' as 'same_order' | 'refused' | 'ignored' | 'unknown_field',
    /** How far a refund gets at once. */
    refundsBecome: 'processed' as 'processed' | 'pending' | 'failed',
    /** The account's limit for one order: 500,000 rupees until Razorpay raises it. */
    mostPaise: 50_000_000,
    /** Too little is on the account for any. */
    refusesRefunds: false,
    /** Lists of refunds do not show the newest yet. */
    listsLag: false,
    /** Orders made so long ago that their own addresses refuse to show them (https://razorpay.com/docs/api/orders/fetch-with-id). */
    tooOld: new Set<string>(),
    /** Whether payments tell their card without being asked to. */
    showsCards: false,
    /** The enabled methods (https://razorpay.com/docs/api/payments/payment-methods). */
    methods: {
      card: true,
      debit_card: true,
      credit_card: true,
      prepaid_card: true,
      card_networks: { AMEX: 0, MC: 1, RUPAY: 1, VISA: 1 },
      netbanking: { HDFC: 'HDFC Bank', UTIB: 'Axis Bank' },
      wallet: { mobikwik: true, payzapp: true },
      upi: true,
      emi: false,
      cardless_emi: [],
      paylater: [],
    } as Json,
    /** Features that the account does not have: their addresses do not exist. */
    lacks: [] as ('disputes' | 'cards')[],

    /** The buyer pays an order, and the bank decides. */
    pay(
      orderId: string,
      {
        outcome = 'captured' as Outcome,
        method = 'card',
        cardType = 'credit',
        createdAt = nowSeconds(),
        /** As it can happen there: two tries that are both under way. */
        evenIfPaid = false,
        ...different
      }: Json = {},
    ): Json {
      const order = orders.get(orderId)
      assert(order, `no order ${orderId}`)
      assert(evenIfPaid || order.status !== 'paid', 'an order that is paid takes no other payment')
      const payment: Json = {
        id: razorpayId('pay_'),
        entity: 'payment',
        amount: order.amount,
        currency: order.currency,
        status: 'created',
        order_id: orderId,
        invoice_id: null,
        international: false,
        method,
        amount_refunded: 0,
        refund_status: null,
        captured: false,
        description: null,
        card_id: method === 'card' ? razorpayId('card_') : null,
        ...(['card', 'emi'].includes(method) && {
          card: { id: razorpayId('card_'), entity: 'card', last4: '1111', network: 'Visa', type: cardType },
        }),
        bank: method === 'netbanking' ? 'HDFC' : null,
        wallet: method === 'wallet' ? 'payzapp' : null,
        vpa: method === 'upi' ? 'gaurav.kumar@exampleupi' : null,
        email: 'gaurav.kumar@example.com',
        contact: '+919876543210',
        notes: [],
        fee: null,
        tax: null,
        error_code: null,
        error_description: null,
        acquirer_data: {},
        created_at: createdAt,
        ...different,
      }
      payments.set(payment.id, payment)
      order.attempts += 1
      if (order.status === 'created') order.status = 'attempted'
      const [first, then] = (outcome as Outcome).split('_then_')
      if (first === 'failed') bank.fail(payment.id)
      if (first === 'authorized' || first === 'captured') bank.authorize(payment.id, { capture: first === 'captured' })
      if (then) bank.authorize(payment.id, { capture: then === 'captured' })
      return payment
    },

    fail(paymentId: string) {
      const failed = { code: 'BAD_REQUEST_ERROR', description: 'Payment failed', reason: 'payment_failed' }
      const payment = payments.get(paymentId)!
      Object.assign(payment, { status: 'failed', error_code: failed.code, error_description: failed.description })
      emit('payment.failed', { payment })
    },

    /** The bank's yes, also days after a payment had failed. Captured at once where the order says so and nothing else is. */
    authorize(paymentId: string, { capture = captures.get(payments.get(paymentId)!.order_id) !== 'manual' } = {}) {
      const payment = payments.get(paymentId)!
      Object.assign(payment, { status: 'authorized', error_code: null, error_description: null })
      emit('payment.authorized', { payment })
      if (capture) bank.capture(paymentId)
    },

    capture(paymentId: string) {
      const payment = payments.get(paymentId)!
      const order = orders.get(payment.order_id)!
      Object.assign(payment, { status: 'captured', captured: true, fee: 2, tax: 0 })
      Object.assign(order, {
        status: 'paid',
        amount_paid: order.amount_paid + payment.amount,
        amount_due: Math.max(0, order.amount_due - payment.amount),
      })
      emit('payment.captured', { payment })
      emit('order.paid', { payment, order })
      route.captured(order.id)
    },

    /** Authorized and never captured: the money goes back by itself. */
    autoRefund(paymentId: string, { createdAt }: Json = {}) {
      const payment = payments.get(paymentId)!
      assert.equal(payment.status, 'authorized')
      makeRefund(payment, { amount: payment.amount, receipt: null, status: 'processed', createdAt })
    },

    refundInDashboard(paymentId: string, { amount, status = 'processed', createdAt }: Json = {}): Json {
      const payment = payments.get(paymentId)!
      const rest = payment.amount - payment.amount_refunded
      return makeRefund(payment, { amount: amount ?? rest, receipt: null, status, createdAt })
    },

    /** A pending refund arrives, or fails and is the seller's again. */
    endRefund(refundId: string, status: 'processed' | 'failed') {
      const refund = refunds.get(refundId)!
      const payment = payments.get(refund.payment_id)!
      refund.status = status
      if (status === 'failed') noteRefunded(payment, -refund.amount)
      emit(`refund.${status}`, { refund, payment })
    },

    openDispute(
      paymentId: string,
      { amount, phase = 'chargeback', deductAtOnset = false, createdAt }: Json = {},
    ): Json {
      const payment = payments.get(paymentId)!
      const dispute = {
        id: razorpayId('disp_'),
        entity: 'dispute',
        payment_id: paymentId,
        amount: amount ?? payment.amount,
        currency: payment.currency,
        amount_deducted: deductAtOnset ? (amount ?? payment.amount) : 0,
        reason_code: 'chargeback',
        respond_by: nowSeconds() + 3 * 86_400,
        status: 'open',
        phase,
        created_at: createdAt ?? nowSeconds(),
      }
      disputes.set(dispute.id, dispute)
      emit('payment.dispute.created', { payment, dispute })
      return dispute
    },

    moveDispute(disputeId: string, status: 'under_review' | 'action_required' | 'won' | 'lost' | 'closed') {
      const dispute = disputes.get(disputeId)!
      // a notification asks for missing evidence: the dispute itself is open again
      dispute.status = status === 'action_required' ? 'open' : status
      // an amount that was refunded before is not taken once more
      if (status === 'lost') dispute.amount_deducted = Math.min(dispute.amount, leftOf(dispute))
      if (status === 'won') dispute.amount_deducted = 0
      emit(`payment.dispute.${status}`, { payment: payments.get(dispute.payment_id)!, dispute })
    },

    /** The refund that Razorpay makes for a dispute that is lost, or is about to be, of the money that the loss takes. */
    refundLoss(disputeId: string): Json {
      const dispute = disputes.get(disputeId)!
      const payment = payments.get(dispute.payment_id)!
      const amount = dispute.status === 'lost' ? dispute.amount_deducted : Math.min(dispute.amount, leftOf(dispute))
      return makeRefund(payment, { amount, receipt: null, status: 'processed', isForLoss: true })
    },

    /** Carries out a request, or throws a Refused. */
    answer,
    /** The answer to this request is on its way. */
    answered(request: Request): void {
      for (const [key, one] of busy) if (one === request) busy.delete(key)
    },
    shown,
  }
  return bank

  /** For a disputed payment: the part that neither a refund nor another dispute has taken. */
  function leftOf({ id, payment_id: paymentId }: Json): number {
    const taken = (all: Iterable<Json>, isTaken: (one: Json) => boolean, of: string): number =>
      [...all].filter((one) => one.payment_id === paymentId && isTaken(one)).reduce((sum, one) => sum + one[of], 0)
    const isRefunded = (one: Json) => one.status === 'processed' && !lossRefunds.has(one.id)
    const refunded = taken(refunds.values(), isRefunded, 'amount')
    const lost = taken(disputes.values(), (one) => one.id !== id && one.status === 'lost', 'amount_deducted')
    return Math.max(0, payments.get(paymentId)!.amount - refunded - lost)
  }

  function shown(entity: Json, withCard = bank.showsCards): Json {
    const copy = structuredClone(entity)
    if (!withCard) delete copy.card
    return copy
  }

  function noteRefunded(payment: Json, amount: number): void {
    payment.amount_refunded += amount
    const whole = payment.amount_refunded === payment.amount
    payment.refund_status = payment.amount_refunded === 0 ? null : whole ? 'full' : 'partial'
    if (whole) payment.status = 'refunded'
    else if (payment.captured) payment.status = 'captured'
  }

  function makeRefund(payment: Json, { amount, receipt, status, createdAt, isForLoss = false }: Json): Json {
    const refund = {
      id: razorpayId('rfnd_'),
      entity: 'refund',
      amount,
      currency: payment.currency,
      payment_id: payment.id,
      notes: [],
      receipt,
      acquirer_data: { arn: null },
      created_at: createdAt ?? nowSeconds(),
      batch_id: null,
      status,
      speed_processed: 'normal',
      speed_requested: 'normal',
    }
    refunds.set(refund.id, refund)
    if (isForLoss) lossRefunds.add(refund.id)
    if (status !== 'failed') noteRefunded(payment, amount)
    emit('refund.created', { refund, payment })
    if (status !== 'pending') emit(`refund.${status}`, { refund, payment })
    return refund
  }

  function notFound(): Refused {
    return new Refused('The requested URL was not found on the server.', { source: 'NA', step: 'NA', reason: 'NA' })
  }
  function need<T>(found: T | undefined): T {
    if (found === undefined) throw new Refused('The id provided does not exist')
    return found
  }
  function needRecent(orderId: string): Json {
    if (bank.tooOld.has(orderId)) throw new Refused('Order older than 180 days, please use reports.')
    return need(orders.get(orderId))
  }

  function allow(given: Iterable<string>, allowed: string[]): void {
    for (const name of given)
      if (!allowed.includes(name))
        throw new Refused(`${name} is/are not required and should not be sent`, { reason: 'extra_field_sent' })
  }

  /** Newest first, 10 at once by default. */
  function list(all: Iterable<Json>, query: URLSearchParams, more: string[] = []): Json {
    allow(query.keys(), [...LIST_QUERY, ...more])
    const number = (name: string, other: number, least: number, most: number) => {
      const value = Number(query.get(name) ?? other)
      if (!Number.isInteger(value) || value < least || value > most)
        throw new Refused(`${name} must be between ${least} and ${most}`, { field: name })
      return value
    }
    const [from, to] = [
      number('from', 946684800, 946684800, 4765046400),
      number('to', 4765046400, 946684800, 4765046400),
    ]
    const [count, skip] = [number('count', 10, 1, 100), number('skip', 0, 0, 1e9)]
    const items = [...all]
      .reverse()
      .filter((one) => one.created_at >= from && one.created_at <= to)
      .sort((a, b) => b.created_at - a.created_at)
      .slice(skip, skip + count)
      .map((one) => shown(one))
    return { entity: 'collection', count: items.length, items }
  }

  function makeOrder({ amount, currency, receipt, notes, payment, unique_receipt, transfers, ...rest }: Json): Json {
    allow(Object.keys(rest), ['partial_payment'])
    if (unique_receipt !== undefined && bank.receipts === 'unknown_field') allow(['unique_receipt'], [])
    if (!Number.isInteger(amount)) throw new Refused('The amount must be an integer.', { field: 'amount' })
    if (amount < 100)
      throw new Refused('Order amount less than minimum amount allowed', {
        step: 'order_creation',
        reason: 'amount_less_than_minimum_amount',
      })
    if (amount > bank.mostPaise) throw new Refused('Amount exceeds maximum amount allowed.', { field: 'amount' })
    if (currency !== 'INR') throw new Refused('Currency is not supported', { field: 'currency' })
    if (typeof receipt !== 'string' || receipt.length > 40)
      throw new Refused('The receipt may not be greater than 40 characters.', { field: 'receipt' })
    checkNotes(notes)
    const { automatic_expiry_period: automatic = 12, manual_expiry_period: manual = 7200 } =
      payment?.capture_options ?? {}
    if (payment?.capture === 'automatic' && (automatic < 12 || manual < automatic || manual > 7200))
      throw new Refused('The capture options are not valid', { field: 'payment' })
    const passed = transfers === undefined ? [] : route.checkTransfers(amount, transfers)
    const known = [...orders.values()].find((one) => one.receipt === receipt)
    if (known && bank.receipts === 'refused')
      throw new Refused('Order receipt should be unique.', { metadata: { order_id: known.id } })
    if (known && unique_receipt && bank.receipts === 'same_order') {
      if (known.amount !== amount) throw new Refused('Order receipt should be unique.')
      return known
    }
    const order = {
      id: razorpayId('order_'),
      entity: 'order',
      amount,
      amount_paid: 0,
      amount_due: amount,
      currency,
      receipt,
      offer_id: null,
      status: 'created',
      attempts: 0,
      notes: notes ?? [],
      created_at: nowSeconds(),
    }
    orders.set(order.id, order)
    captures.set(order.id, payment?.capture ?? 'automatic')
    return passed.length > 0 ? { ...order, transfers: route.make(order.id, passed) } : order
  }

  function capturePayment(id: string, { amount, currency, ...rest }: Json): Json {
    allow(Object.keys(rest), [])
    const payment = need(payments.get(id))
    if (payment.status === 'captured') throw new Refused('This payment has already been captured')
    if (payment.status !== 'authorized')
      throw new Refused('Only payments which have been authorized and not yet captured can be captured')
    if (orders.get(payment.order_id)!.status === 'paid')
      throw new Refused(
        'Your payment has been declined as the order is already paid. Please initiate the payment with a new order.',
      )
    if (amount !== payment.amount || currency !== payment.currency)
      throw new Refused('Capture amount must be equal to the amount authorized')
    bank.capture(id)
    return payment
  }

  function refundPayment(id: string, request: Request): Json {
    const { body } = request
    const key = request.headers['x-refund-idempotency'] as string | undefined
    allow(Object.keys(body), ['amount', 'speed', 'notes', 'receipt'])
    if (key !== undefined && key.length < 10)
      throw new Refused('The idempotency key must be at least 10 characters long.')
    if (key !== undefined && !/^[\w-]+$/.test(key))
      throw new Refused('The idempotency key must only contain alphanumerics')
    const text = JSON.stringify({ id, body })
    const before = key === undefined ? undefined : idempotent.get(key)
    if (before && before.body !== text)
      throw new Refused('Different request with the same idempotency key has already been processed.', { status: 409 })
    if (key !== undefined && busy.has(key))
      throw new Refused('Another request with the same idempotency key is still in progress.', { status: 409 })
    if (before?.answer) return before.answer
    // the key is for this request from now on, whatever comes of it
    if (key !== undefined) {
      idempotent.set(key, { body: text })
      busy.set(key, request)
    }
    const payment = need(payments.get(id))
    const { amount = payment.amount, receipt = null } = body
    checkNotes(body.notes)
    if (receipt !== null && (typeof receipt !== 'string' || receipt.length > 40))
      throw new Refused('The receipt may not be greater than 40 characters.', { field: 'receipt' })
    if (payment.status === 'refunded') throw new Refused('The payment has been fully refunded already')
    if (payment.status !== 'captured') throw new Refused('The payment status should be captured for action to be taken')
    if (amount < 100) throw new Refused('The amount must be at least INR 1.00', { field: 'amount' })
    if (amount > payment.amount - payment.amount_refunded)
      throw new Refused('The refund amount provided is greater than amount captured')
    if (receipt !== null && [...refunds.values()].some((one) => one.payment_id === id && one.receipt === receipt))
      throw new Refused('Duplicate receipt found for this refund request.', { field: 'receipt' })
    if (bank.refusesRefunds) throw new Refused('Your account does not have enough balance to carry out the refund.')
    const refund = makeRefund(payment, { amount, receipt, status: bank.refundsBecome })
    if (key !== undefined) idempotent.set(key, { body: text, answer: structuredClone(refund) })
    return refund
  }

  function answer(request: Request): Json {
    const { method, path, query, body } = request
    const ofRoute = route.answer(method, path, query, body)
    if (ofRoute) return structuredClone(ofRoute)
    const [, kind = '', id = '', what = ''] = /^\/v1\/(\w+)(?:\/(\w+))?(?:\/(\w+))?\/?$/.exec(path) ?? []
    const of = (all: Map<string, Json>, field: string) => [...all.values()].filter((one) => one[field] === id)
    switch (`${method} ${kind}${id && '/:id'}${what && `/${what}`}`) {
      case 'GET methods':
        allow(query.keys(), [])
        return { entity: 'methods', ...bank.methods }
      case 'POST orders':
        return shown(makeOrder(body))
      case 'GET orders': {
        const receipt = query.get('receipt')
        const chosen = [...orders.values()].filter((one) => receipt === null || one.receipt?.includes(receipt))
        return list(chosen, query, ['receipt', 'authorized'])
      }
      case 'GET orders/:id':
        allow(query.keys(), ['expand[]'])
        return {
          ...shown(needRecent(id)),
          ...(query.get('expand[]') === 'transfers' && {
            transfers: { entity: 'collection', items: route.of(id).map(route.shown) },
          }),
        }
      case 'GET orders/:id/payments': {
        // not a list in pages: it takes no count, and gives all
        allow(query.keys(), [])
        needRecent(id)
        const items = of(payments, 'order_id').map((one) => shown(one))
        return { entity: 'collection', count: items.length, items }
      }
      case 'GET payments':
        return list(payments.values(), query, ['expand[]'])
      case 'GET payments/:id':
        allow(query.keys(), bank.lacks.includes('cards') ? [] : ['expand[]'])
        return shown(need(payments.get(id)), query.getAll('expand[]').includes('card') || bank.showsCards)
      case 'POST payments/:id/capture':
        return shown(capturePayment(id, body))
      case 'POST payments/:id/refund':
        return refundPayment(id, request)
      case 'GET payments/:id/refunds':
        need(payments.get(id))
        return list(bank.listsLag ? [] : of(refunds, 'payment_id'), query)
      case 'GET refunds':
        return list(refunds.values(), query)
      case 'GET disputes':
        if (bank.lacks.includes('disputes')) throw notFound()
        // its own library sends these two and no others
        allow(query.keys(), ['count', 'skip'])
        return list(disputes.values(), query)
      default:
        throw notFound()
    }
  }
}
