import { type Json, Refused, checkNotes, nowSeconds, razorpayId } from './razorpay-refusal.ts'

// Plays Razorpay Route by its published API (https://razorpay.com/docs/api/payments/route): linked accounts, their people and products,
// transfers that are made with an Order and go on with its capture, and reversals. It has no idempotency keys, as the real one.

type Activation = 'requested' | 'needs_clarification' | 'under_review' | 'activated' | 'suspended'
type Emit = (event: string, about: Json, account?: string) => void

interface Parts {
  payments: Map<string, Json>
  emit: Emit
  list: (all: Iterable<Json>, query: URLSearchParams, more?: string[]) => Json
  allow: (given: Iterable<string>, allowed: string[]) => void
  need: <T>(found: T | undefined) => T
}

export type Route = ReturnType<typeof newRoute>

export function newRoute({ payments, emit, list, allow, need }: Parts) {
  const accounts = new Map<string, Json>()
  const stakeholders = new Map<string, Json[]>()
  const products = new Map<string, Json>()
  const transfers = new Map<string, Json>()
  const reversals: Json[] = []
  /** Transfers as lists that lag behind show them. */
  const old = new Map<string, Json>()
  const settlements = new Map<string, Json>()
  /** The money that has gone to a linked account's bank, and cannot be reversed from there. */
  const settled = new Map<string, number>()

  const route = {
    accounts,
    stakeholders,
    products,
    transfers,
    reversals,
    /** Whether the account has Route at all. */
    isOn: true,
    /** The state of a transfer once its Order is captured. */
    transfersBecome: 'processed' as 'processed' | 'pending' | 'failed',
    leastReversalPaise: 1,
    /** Whether the lists show the reversals yet. Otherwise transfers stand there as if none had been made. */
    listsReversals: true,
    /** Whether the answer to a request with an Order has the status under the other name of the documents. */
    namesTransferStatus: false,

    /** A person at Razorpay decides about an account. */
    stand(accountId: string, status: Activation, requirements: string[] = []): void {
      const product = [...products.values()].find((one) => one.account_id === accountId)!
      Object.assign(product, {
        activation_status: status,
        requirements: requirements.map((one) => requirement(accountId, one, 'needs_clarification')),
      })
      const { id } = product
      const merchant_product = { id, merchant_id: accountId, activation_status: status }
      emit(`product.route.${status}`, { merchant_product }, accountId)
    },
    suspend(accountId: string): void {
      accounts.get(accountId)!.status = 'suspended'
      emit('account.suspended', { account: { id: accountId, entity: 'merchant' } }, accountId)
    },

    /** Razorpay tries a transfer that was pending or has failed. */
    process(transferId: string): void {
      const transfer = transfers.get(transferId)!
      Object.assign(transfer, {
        status: 'processed',
        settlement_status: 'pending',
        error: NO_ERROR,
        processed_at: nowSeconds(),
      })
      emit('transfer.processed', { transfer: shown(transfer) })
    },
    fail(transferId: string): void {
      const transfer = transfers.get(transferId)!
      Object.assign(transfer, { status: 'failed', error: NO_BALANCE, processed_at: nowSeconds() })
      emit('transfer.failed', { transfer: shown(transfer) })
    },
    /** Razorpay shows a transfer as it was before, until its lists catch up. */
    lag: (transfer: Json): void => void old.set(transfer.id, transfer),
    catchUp: (): void => old.clear(),
    settlements,
    /** All that is at a linked account goes to its bank. Money that was reversed after an earlier settlement is missing in this one. */
    settle(accountId: string, status: 'created' | 'processed' | 'failed' = 'processed'): Json {
      const entity = {
        id: razorpayId('setl_'),
        entity: 'settlement',
        amount: 0,
        status: 'created',
        fees: 0,
        tax: 0,
        utr: null,
      }
      const settlement: Json = { ...entity, created_at: nowSeconds() }
      const there = [...transfers.values()].filter((one) => one.recipient === accountId && isPassed(one))
      const net = there.reduce((sum, one) => sum + one.amount - one.amount_reversed, 0)
      settlement['amount'] = net - (settled.get(accountId) ?? 0)
      settled.set(accountId, net)
      for (const one of there)
        if (!one.recipient_settlement_id)
          Object.assign(one, { settlement_status: 'settled', recipient_settlement_id: settlement['id'] })
      settlements.set(settlement['id'], settlement)
      if (status !== 'created') route.bankSays(accountId, settlement['id'], status)
      return settlement
    },
    /** A settlement that failed can be processed later. */
    bankSays(accountId: string, settlementId: string, status: 'processed' | 'failed'): void {
      const settlement = settlements.get(settlementId)!
      Object.assign(settlement, { status, utr: status === 'processed' ? `UTR${settlementId.slice(-8)}` : null })
      if (status === 'processed') emit('settlement.processed', { settlement: structuredClone(settlement) }, accountId)
    },
    /** Money from elsewhere comes to a linked account, so that all of its transfers can be reversed again. */
    fill: (accountId: string): void => void settled.delete(accountId),
    /** Of a payment, in the dashboard. */
    transferInDashboard: (paymentId: string, account: string, amount: number): Json => {
      const transfer = newTransfer(paymentId, { account, amount, currency: 'INR' })
      route.process(transfer.id)
      return transfer
    },
    of: (source: string): Json[] => [...transfers.values()].filter((one) => one.source === source),

    checkTransfers,
    make: (orderId: string, wanted: Json[]): Json[] => wanted.map((one) => shown(newTransfer(orderId, one))),
    /** The Order is paid, and its money goes on. */
    captured(orderId: string): void {
      for (const { id, status } of route.of(orderId)) {
        if (status !== 'created') continue
        if (route.transfersBecome === 'pending') transfers.get(id)!.status = 'pending'
        else if (route.transfersBecome === 'failed') route.fail(id)
        else route.process(id)
      }
    },
    shown,
    answer,
  }
  return route

  function checkTransfers(amount: number, wanted: unknown): Json[] {
    if (!route.isOn) allow(['transfers'], [])
    if (!Array.isArray(wanted) || wanted.length === 0)
      throw new Refused('The transfers must be an array.', { field: 'transfers' })
    for (const { account, amount: part, currency, ...rest } of wanted as Json[]) {
      allow(Object.keys(rest), ['notes', 'linked_account_notes', 'on_hold', 'on_hold_until'])
      if (!Number.isInteger(part) || part < 100)
        throw new Refused('The amount must be at least INR 1.00', { field: 'transfers.0.amount' })
      if (currency !== 'INR')
        throw new Refused('The transfers currency should be INR', { field: 'transfers.0.currency' })
      const product = [...products.values()].find((one) => one.account_id === account)
      if (!accounts.has(account))
        throw new Refused('The account id provided does not exist', { field: 'transfers.0.account' })
      if (product?.activation_status !== 'activated' || accounts.get(account)!.status === 'suspended')
        throw new Refused('Linked account is not activated', { field: 'transfers.0.account' })
    }
    if ((wanted as Json[]).reduce((sum, one) => sum + one.amount, 0) > amount)
      throw new Refused('The sum of amount requested for transfer is greater than the order amount', {
        field: 'transfers',
      })
    return wanted as Json[]
  }

  function newTransfer(source: string, { account, amount, currency, notes = [] }: Json): Json {
    checkNotes(notes)
    const transfer: Json = {
      id: razorpayId('trf_'),
      entity: 'transfer',
      status: 'created',
      settlement_status: null,
      source,
      recipient: account,
      amount,
      currency,
      amount_reversed: 0,
      fees: 0,
      tax: 0,
      notes,
      linked_account_notes: [],
      on_hold: false,
      on_hold_until: null,
      recipient_settlement_id: null,
      created_at: nowSeconds(),
      processed_at: null,
      error: NO_ERROR,
    }
    transfers.set(transfer.id, transfer)
    return transfer
  }

  function shown(transfer: Json): Json {
    const one = structuredClone(old.get(transfer.id) ?? transfer)
    const { status, ...rest } =
      route.listsReversals || !isPassed(one) ? one : { ...one, status: 'processed', amount_reversed: 0 }
    return route.namesTransferStatus ? { ...rest, transfer_status: status } : { ...rest, status }
  }

  function reverse(id: string, { amount, notes = [], ...rest }: Json): Json {
    allow(Object.keys(rest), ['linked_account_notes'])
    checkNotes(notes)
    const transfer = need(transfers.get(id))
    if (!isPassed(transfer)) throw new Refused('The transfer is not processed yet', { field: 'id' })
    const left = transfer.amount - transfer.amount_reversed
    const wanted = amount ?? left
    if (!Number.isInteger(wanted) || wanted < route.leastReversalPaise)
      throw new Refused('The amount must be at least INR 1.00', { field: 'amount' })
    if (wanted > left)
      throw new Refused('The reversal amount is greater than the amount left of the transfer', { field: 'amount' })
    const there = [...transfers.values()]
      .filter((one) => one.recipient === transfer.recipient && isPassed(one))
      .reduce((sum, one) => sum + one.amount - one.amount_reversed, 0)
    if (wanted > there - (settled.get(transfer.recipient) ?? 0))
      throw new Refused('The linked account does not have sufficient balance to process the reversal', {
        reason: 'insufficient_balance',
      })
    transfer.amount_reversed += wanted
    transfer.status = transfer.amount_reversed === transfer.amount ? 'reversed' : 'partially_reversed'
    const reversal = {
      id: razorpayId('rvrsl_'),
      entity: 'reversal',
      transfer_id: id,
      amount: wanted,
      fee: 0,
      tax: 0,
      currency: 'INR',
      notes,
      initiator_id: 'BFQ7uQEaa7j2z7',
      customer_refund_id: null,
      created_at: nowSeconds(),
    }
    reversals.push(reversal)
    return reversal
  }

  function makeAccount(body: Json): Json {
    const {
      email,
      phone,
      type,
      legal_business_name: name,
      business_type: kind,
      contact_name: contact,
      profile,
      ...rest
    } = body
    allow(Object.keys(rest), ['customer_facing_business_name', 'legal_info', 'notes', 'contact_info', 'apps'])
    if (type !== 'route') throw new Refused('Invalid type: ' + String(type))
    if (!kind) throw new Refused('The business type field is required.', { field: 'business_type' })
    const known = [...accounts.values()].find((one) => one.email === email)
    if (known)
      throw new Refused(`Merchant email already exists for account - ${known.id.slice(4)}.`, {
        field: 'email',
        reason: 'NA',
      })
    const account: Json = { id: razorpayId('acc_'), status: 'created', notes: [], created_at: nowSeconds(), ...body }
    checkBusiness({ phone, name, contact, profile, legal: body.legal_info })
    accounts.set(account.id, account)
    stakeholders.set(account.id, [])
    return account
  }

  function checkBusiness({ phone, name, contact, profile, legal }: Json): void {
    if (!/^\+?\d{8,15}$/.test(String(phone))) throw new Refused('The phone format is invalid', { field: 'phone' })
    if (!/^.{4,200}$/.test(String(name)))
      throw new Refused('The legal business name is invalid', { field: 'legal_business_name' })
    if (!/^[A-Za-z ]{4,255}$/.test(String(contact)))
      throw new Refused('The contact name may only contain alphabets and spaces', { field: 'contact_name' })
    const { street1, street2, city, state, postal_code: code, country } = profile?.addresses?.registered ?? {}
    for (const [field, value] of Object.entries({ street1, street2, city, state }))
      if (!value) throw new Refused(`The ${field} field is required`, { field })
    if (!/^\d{6}$/.test(String(code))) throw new Refused('The postal code must be 6 digits.', { field: 'postal_code' })
    if (country !== 'IN') throw new Refused('The country is not supported', { field: 'country' })
    if (!profile.category || !profile.subcategory)
      throw new Refused('Invalid business subcategory for business category', { field: 'subcategory' })
    // a person's PAN is not that of a business
    if (legal?.pan !== undefined && !/^[A-Z]{3}[ABCFGHJLT][A-Z]\d{4}[A-Z]$/.test(legal.pan))
      throw new Refused('The pan field is invalid.', { field: 'pan' })
  }

  function changeAccount(id: string, body: Json): Json {
    const account = need(accounts.get(id))
    const answered = checkAsked(id, body)
    allow(Object.keys(body), ['phone', 'legal_business_name', 'contact_name', 'profile', 'legal_info', 'notes'])
    const next = merged(account, body)
    checkBusiness({ phone: next.phone, name: next.legal_business_name, contact: next.contact_name, profile: next.profile, legal: body.legal_info }) // oxfmt-ignore
    answered()
    return Object.assign(account, next)
  }

  /**
   * https://razorpay.com/docs/api/partners/errors: nothing may be sent while the account is checked and when it is active, and in a
   * correction only what is asked for. The function that is returned notes that these are asked for no more.
   */
  function checkAsked(accountId: string, body: Json): () => void {
    const product = [...products.values()].find((one) => one.account_id === accountId)
    if (['under_review', 'activated'].includes(product?.activation_status))
      throw new Refused('Merchant activation form has been locked for editing by admin', { reason: 'NA' })
    const wanted: Json[] = product?.requirements ?? []
    if (!wanted.some((one) => one.reason_code === 'needs_clarification')) return () => {}
    // the fields of a bank account belong together
    const isAsked = (path: string) =>
      wanted.some(({ field_reference: one }) =>
        path.startsWith('settlements.') ? one.startsWith('settlements.') : path === one || path.startsWith(`${one}.`),
      )
    if (!pathsOf(body).every(isAsked))
      throw new Refused('Only fields requested for needs clarification are allowed for update.', { reason: 'NA' })
    return () => {
      const sent = Object.keys(body)
      product!.requirements = wanted.filter((one) => !sent.includes(one.field_reference.split('.')[0]))
      if (product!.requirements.length === 0) product!.activation_status = 'under_review'
    }
  }

  function tellStakeholder(accountId: string, id: string, body: Json): Json {
    const all = need(stakeholders.get(accountId))
    const answered = checkAsked(accountId, body)
    allow(Object.keys(body), ['name', 'email', 'kyc', 'percentage_ownership', 'relationship', 'phone', 'addresses', 'notes']) // oxfmt-ignore
    if ((!id || body.kyc) && !/^[A-Z]{3}P[A-Z]\d{4}[A-Z]$/.test(String(body.kyc?.pan)))
      throw new Refused('The pan field is invalid.', { field: 'kyc.pan' })
    answered()
    if (id) return Object.assign(need(all.find((one) => one.id === id)), body)
    const person = { id: razorpayId('sth_'), entity: 'stakeholder', notes: [], ...body }
    all.push(person)
    return person
  }

  /** Asking again gives the same product. */
  function askProduct(accountId: string, { product_name: name, tnc_accepted: accepted, ...rest }: Json): Json {
    need(accounts.get(accountId))
    allow(Object.keys(rest), ['ip'])
    if (name !== 'route') throw new Refused('The product name is invalid', { field: 'product_name' })
    const known = [...products.values()].find((one) => one.account_id === accountId)
    if (known) return known
    const product = {
      id: razorpayId('acc_prd_'),
      account_id: accountId,
      product_name: 'route',
      activation_status: 'needs_clarification',
      requested_configuration: [],
      active_configuration: {},
      requirements: ['settlements.account_number', 'settlements.ifsc_code', 'settlements.beneficiary_name'].map((one) =>
        requirement(accountId, one),
      ),
      tnc: { accepted, accepted_at: nowSeconds() },
      requested_at: nowSeconds(),
    }
    products.set(product.id, product)
    return product
  }

  function changeProduct(accountId: string, id: string, { settlements, ...rest }: Json): Json {
    allow(Object.keys(rest), ['tnc_accepted', 'ip'])
    const product = need(products.get(id))
    if (product.account_id !== accountId) throw new Refused('The id provided does not exist')
    const answered = checkAsked(accountId, { settlements })
    const { account_number: number, ifsc_code: ifsc, beneficiary_name: name } = settlements ?? {}
    if (!/^[A-Z]{4}0[A-Z0-9]{6}$/.test(String(ifsc)) || ifsc.startsWith('XXXX'))
      throw new Refused('Invalid IFSC Code', { field: 'ifsc_code' })
    if (!/^\w{5,35}$/.test(String(number)))
      throw new Refused('The bank account number must be between 5 and 35 characters', { field: 'account_number' })
    if (!name) throw new Refused('The beneficiary name is required', { field: 'beneficiary_name' })
    product.active_configuration = { settlements }
    if (product.requirements.some((one: Json) => one.reason_code === 'needs_clarification')) answered()
    else Object.assign(product, { activation_status: 'under_review', requirements: [] })
    return product
  }

  /** Undefined: the request is about something else. */
  function answer(method: string, path: string, query: URLSearchParams, body: Json): Json | undefined {
    if (!route.isOn) return undefined
    const [, one = '', more = '', two = ''] =
      /^\/v2\/accounts(?:\/(acc_\w+))?(?:\/(\w+))?(?:\/(\w+))?\/?$/.exec(path) ?? []
    if (path.startsWith('/v2/accounts')) {
      switch (`${method}${one && ' :id'}${more && ` ${more}`}${two && ' :id'}`) {
        case 'POST':
          return makeAccount(body)
        case 'GET :id':
          return need(accounts.get(one))
        case 'PATCH :id':
          return changeAccount(one, body)
        case 'GET :id stakeholders':
          return { entity: 'collection', items: need(stakeholders.get(one)) }
        case 'POST :id stakeholders':
        case 'PATCH :id stakeholders :id':
          return tellStakeholder(one, two, body)
        case 'POST :id products':
          return askProduct(one, body)
        case 'PATCH :id products :id':
          return changeProduct(one, two, body)
        case 'GET :id products :id':
          return need(products.get(two))
        default:
          return undefined
      }
    }
    const [, transferId = '', what = ''] = /^\/v1\/transfers(?:\/(trf_\w+))?(?:\/(reversals))?$/.exec(path) ?? []
    if (path.startsWith('/v1/transfers')) {
      if (method === 'GET' && !transferId) {
        const settlementId = query.get('recipient_settlement_id')
        const those = [...transfers.values()].filter(
          (one) => !settlementId || one.recipient_settlement_id === settlementId,
        )
        const all = list(those, query, ['recipient_settlement_id', 'expand[]'])
        const isExpanded = query.get('expand[]') === 'recipient_settlement'
        const settlementOf = (one: Json) => settlements.get(one.recipient_settlement_id) ?? null
        const items = all.items.map((one: Json) => ({
          ...shown(one),
          ...(isExpanded && { recipient_settlement: structuredClone(settlementOf(one)) }),
        }))
        return { ...all, items }
      }
      if (method === 'GET' && !what) return shown(need(transfers.get(transferId)))
      if (method === 'POST' && what) return reverse(transferId, body)
      return undefined
    }
    const [, paymentId] = /^\/v1\/payments\/(pay_\w+)\/transfers$/.exec(path) ?? []
    if (method !== 'GET' || !paymentId) return undefined
    need(payments.get(paymentId))
    // not a list in pages: it takes no count
    allow(query.keys(), [])
    const items = route.of(paymentId).map(shown)
    return { entity: 'collection', count: items.length, items }
  }

  function requirement(accountId: string, field: string, reason = 'field_missing'): Json {
    const url = `/accounts/${accountId}${OF_PERSON.test(field) ? '/stakeholders' : ''}`
    return { field_reference: field, resolution_url: url, reason_code: reason, status: 'required' }
  }
}

/** The details of the person behind an account. */
const OF_PERSON = /^(?:kyc\.|name$|individual_)/

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The paths of all values in a body, such as `legal_info.pan`. */
const pathsOf = (body: Json, above = ''): string[] =>
  Object.entries(body).flatMap(([name, one]) => (isObject(one) ? pathsOf(one, `${above}${name}.`) : [above + name]))

const merged = (before: Json, changes: Json): Json => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(changes).map(([name, one]) => [
      name,
      isObject(one) && isObject(before[name]) ? merged(before[name], one) : one,
    ]),
  ),
})

const isPassed = ({ status }: Json): boolean => ['processed', 'reversed', 'partially_reversed'].includes(status)
const NO_ERROR = { code: null, description: null, field: null, source: null, step: null, reason: null }
const NO_BALANCE = {
  code: 'BAD_REQUEST_TRANSFER_INSUFFICIENT_BALANCE',
  description: 'Transfer failed due to insufficient balance',
  field: null,
  source: 'transfer',
  step: 'balance_check',
  reason: 'insufficient_balance',
}
