import { ApiRefusal } from '../api-refusal.ts'
import { ProcessorUnavailable } from '../refusals.ts'
import { DetailsRefused } from '../api-refusal.ts'
import type { AccountReport, BusinessDetails, SellerAccounts } from '../seller-accounts.ts'
import type { Visit } from './client.ts'
import { askedFor, isEmpty, lockedWhy, only } from './corrections.ts'
import { type LinkedAccount, type RouteProduct, shapes } from './entities.ts'
import { isRefused, unlessRefused } from './errors.ts'
import { settlementItems, settlementsSince } from './settlements.ts'
import { wordsFor } from './requirements.ts'

/** The kinds of files for sale, in Razorpay's words (https://razorpay.com/docs/api/payments/route/create-linked-account). */
const SELLS: Readonly<Record<string, { category: string; subcategory: string }>> = {
  texts: { category: 'media_and_entertainment', subcategory: 'content_and_publishing' },
  courses: { category: 'education', subcategory: 'elearning' },
  software: { category: 'it_and_software', subcategory: 'saas' },
  games: { category: 'gaming', subcategory: 'game_developer' },
}
/** Razorpay answers a second account with the mailbox of a first one by naming that one, with or without its prefix. */
const SAME_MAILBOX = /already exists for account\s*-\s*(?:acc_)?([A-Za-z0-9]{1,40})/i
/** The text before Razorpay's status. */
const REQUEST = /^.*?: answered with /s
/** The text before Razorpay's own words. */
const ANSWERED = /^.*?: answered with \d{3} /s

/**
 * The linked accounts of sellers (https://razorpay.com/docs/api/payments/route): an account, the person behind it, the product `route`
 * and its bank account, one request each. Razorpay has no idempotency keys here, so each step finds the result of an earlier call: an
 * account by its mailbox and by our key in its notes, a person by the account's list, the product by asking for it again.
 */
export function linkedAccounts(visit: () => Visit): SellerAccounts {
  return {
    async read(account, product) {
      const ask = visit()
      try {
        const found = await ask.get(shapes.linkedAccount, `/v2/accounts/${account}`)
        if (found.id !== account) throw new ProcessorUnavailable('Razorpay told of another account')
        return reportOf(found, product === undefined ? undefined : await productOf(ask, account, product))
      } catch (error) {
        if (isRefused(error)) return { endedWhy: error.message.replace(REQUEST, '').slice(0, 300) }
        throw error
      }
    },
    settlements: {
      since: (moment) => settlementsSince(visit, moment),
      items: (payout) => settlementItems(visit, payout),
    },
    told: {
      async tell({ key, account: known, product, details }, { begin, note }) {
        const ask = visit()
        try {
          if (known !== undefined && product !== undefined) {
            const before = await productOf(ask, known, product)
            return await correct(ask, before, details, begin)
          }
          await begin({ bank: true })
          const account = await accountWith(ask, key, known, details)
          await note({ account: account.id })
          await tellPerson(ask, account.id, personOf(details), details)
          const path = `/v2/accounts/${account.id}/products`
          const body = { product_name: 'route', tnc_accepted: true }
          const { id } = await ask.post(shapes.routeProduct, path, body)
          await note({ account: account.id, product: id })
          return reportOf(account, await tellBank(ask, account.id, id, details))
        } catch (error) {
          throw isRefused(error) ? detailsRefused(error) : error
        }
      },
    },
  }
}

async function productOf(ask: Visit, account: string, product: string): Promise<RouteProduct> {
  const config = await ask.get(shapes.routeProduct, `/v2/accounts/${account}/products/${product}`)
  if (config.id === product && config.account_id === account) return config
  throw new ProcessorUnavailable('Razorpay told of another product')
}

/**
 * Sends an account that is there the details that Razorpay takes now. It refuses a whole request for one detail of which it has not asked.
 */
async function correct(
  ask: Visit,
  before: RouteProduct,
  details: BusinessDetails,
  begin: (sends: { bank: boolean }) => Promise<void>,
): Promise<AccountReport> {
  const { account_id: id, id: product } = before
  const why = lockedWhy(before, businessOf(details), personOf(details))
  if (why !== undefined) throw new DetailsRefused(why, {})
  const asked = askedFor(before)
  const isBankSent = !asked || asked.bank
  await begin({ bank: isBankSent })
  const business = asked ? only(businessOf(details), asked.account) : businessOf(details)
  const path = `/v2/accounts/${id}`
  const account = await (isEmpty(business)
    ? ask.get(shapes.linkedAccount, path)
    : ask.patch(shapes.linkedAccount, path, business))
  const person = asked ? only(personOf(details), asked.person) : personOf(details)
  if (!isEmpty(person)) await tellPerson(ask, id, person, details)
  return reportOf(account, isBankSent ? await tellBank(ask, id, product, details) : await productOf(ask, id, product))
}

async function tellBank(ask: Visit, account: string, product: string, details: BusinessDetails): Promise<RouteProduct> {
  const { accountNumber, ifsc, beneficiaryName } = details
  const settlements = { account_number: accountNumber, ifsc_code: ifsc, beneficiary_name: beneficiaryName }
  const path = `/v2/accounts/${account}/products/${product}`
  const config = await ask.patch(shapes.routeProduct, path, { settlements, tnc_accepted: true })
  if (config.id !== product || config.account_id !== account)
    throw new ProcessorUnavailable('Razorpay told of another product')
  return config
}

/** Changes the known account, or makes it. After a lost answer it exists, and Razorpay names it. */
async function accountWith(ask: Visit, key: string, known: string | undefined, details: BusinessDetails) {
  if (known) return ask.patch(shapes.linkedAccount, `/v2/accounts/${known}`, businessOf(details))
  const { email, businessType } = details
  const body = {
    email,
    type: 'route',
    business_type: businessType,
    ...businessOf(details),
    notes: { connection_id: key },
  }
  try {
    return await ask.post(shapes.linkedAccount, '/v2/accounts', body)
  } catch (error) {
    const [, id] = (error instanceof ApiRefusal && SAME_MAILBOX.exec(error.message)) || []
    if (!id) throw error
    // an account that gives no access is somebody else's, or has ended: the first answer says more
    const found = await ask.get(shapes.linkedAccount, `/v2/accounts/acc_${id}`).catch(unlessRefused(undefined))
    if (!found || !shapes.connection.Check(found.notes) || found.notes.connection_id !== key) throw error
    return ask.patch(shapes.linkedAccount, `/v2/accounts/${found.id}`, businessOf(details))
  }
}

/** The tax number of a person belongs to the person, and Razorpay refuses it as that of a business. */
const businessOf = (details: BusinessDetails) => ({
  phone: details.phone,
  legal_business_name: details.legalName,
  contact_name: details.contactName,
  profile: {
    ...SELLS[details.sells],
    addresses: {
      registered: {
        street1: details.street1,
        street2: details.street2,
        city: details.city,
        state: details.state,
        postal_code: details.postalCode,
        country: 'IN',
      },
    },
  },
  ...((details.businessPan || details.gst) && {
    legal_info: { ...(details.businessPan && { pan: details.businessPan }), ...(details.gst && { gst: details.gst }) },
  }),
})

const personOf = ({ contactName, email, pan }: BusinessDetails) => ({ name: contactName, email, kyc: { pan } })

/** Changes these details of the person behind the account. A person who is not there yet gets all of them. */
async function tellPerson(ask: Visit, account: string, changed: object, details: BusinessDetails): Promise<void> {
  const path = `/v2/accounts/${account}/stakeholders`
  const { items } = await ask.get(shapes.stakeholders, path)
  if (items[0]) await ask.patch(shapes.stakeholder, `${path}/${items[0].id}`, changed)
  else await ask.post(shapes.stakeholder, path, personOf(details))
}

/** Razorpay names the fault in a sentence of its own. Only the seller sees it: it could quote the seller's own input. */
function detailsRefused(error: ApiRefusal): DetailsRefused {
  const reason = SAME_MAILBOX.test(error.message)
    ? 'Razorpay has an account with this e-mail address already. Use another one'
    : error.message.replace(ANSWERED, '')
  return new DetailsRefused(reason || 'Razorpay names no reason', { details: error.details })
}

/** How the account stands. It sells while Razorpay passes money on to it and settles that to the bank. */
function reportOf({ id, status }: LinkedAccount, product: RouteProduct | undefined): AccountReport {
  const activation = status === 'suspended' ? 'suspended' : (product?.activation_status ?? 'none')
  const due = (product?.requirements ?? []).map((one) => one.field_reference)
  const isActive = activation === 'activated'
  const waits = activation === 'under_review' || activation === 'suspended' || activation === 'rejected'
  return {
    account: id,
    ...(product && { product: product.id }),
    state: isActive ? 'active' : waits ? 'restricted' : 'open',
    missing: wordsFor(due, activation),
    paysOut: isActive,
  }
}
