import { modeOf } from '../../src/processors/settings.ts'
import { newLog } from '../../src/kit/log.ts'
import { isLoopback } from '../../src/kit/local-names.ts'
import { openProcessors } from '../../src/processors/open.ts'
import type { AccountCheck, NotificationAddress } from '../../src/processors/account-check.ts'
import type { Processor } from '../../src/processors/processor.ts'
import { ProcessorUnavailable } from '../../src/processors/refusals.ts'
import { registrableHosts } from '../../src/sellers/sites.ts'
import { noteClock } from './ask.ts'
import { type Finding, type Patient, failure, fine, warning } from './finding.ts'
import { inWords, knownReason } from './in-words.ts'

export const webhookPath = (processor: string): string => `/api/webhooks/${processor}`

/** Asks the processor about our account, with our key. */
export async function checkProcessor(patient: Patient, name: 'stripe' | 'razorpay'): Promise<Finding[]> {
  const { stripe, razorpay, statementPrefix } = patient.config
  const sandbox = () => {
    throw new Error('the sandbox needs no account')
  }
  let processor: Processor
  try {
    const wanted = { processors: [name], stripe, razorpay, sandbox, statementPrefix }
    const open = await openProcessors(wanted, newLog('silent'))
    processor = open.get(name)!
  } catch (error) {
    return [failure(name, (error as Error).message, 'correct its settings: docs/settings.md')]
  }
  let account: AccountCheck
  try {
    account = await processor.check!()
  } catch (error) {
    const reason = knownReason(error)
    const unknown = error instanceof ProcessorUnavailable ? error.message : inWords(error)
    const says = reason ? `cannot be asked: ${reason}` : `answers, but not as it should: ${unknown}`
    const url = (name === 'stripe' ? stripe : razorpay)?.apiUrl
    const advice = url ? `see what answers at ${url}` : 'let this machine reach it over https (proxy, firewall, DNS)'
    return [failure(name, says, advice)]
  }
  noteClock(patient, name, account.clock)
  const key = name === 'stripe' ? stripe!.secretKey : razorpay!.keyId
  const setting = name === 'stripe' ? 'STRIPE_SECRET_KEY' : 'RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET'
  if (!account.keyAccepted)
    return [failure(name, 'it answers, and does not know the key', `copy ${setting} again from its dashboard`)]
  const reads =
    account.lacks.length > 0
      ? failure(name, `the key may not read ${account.lacks.join(', ')}`, 'give the restricted key these permissions')
      : fine(name, `answers and takes the key, in ${modeOf(key)} mode`)
  return [
    reads,
    ...checkPrefix(name, account, statementPrefix),
    ...checkMethods(name, account),
    ...(await checkHosts(patient, name, account)),
    ...checkAddresses(
      patient,
      name,
      account.addresses?.filter(({ ofSellers }) => !ofSellers),
    ),
    ...(patient.config.payouts.by === 'stripe-connect' ? checkSellers(patient, account) : []),
    ...(patient.config.payouts.by === 'razorpay-route' ? checkRoute(account) : []),
  ]
}

/** Checks whether a payment can start with each payment method in the settings. */
function checkMethods(name: string, { methods }: AccountCheck): Finding[] {
  if (!methods) return []
  const about = `${name} ways to pay`
  const refused = methods.flatMap(({ name: method, refused }) =>
    refused
      ? [`${method} (${refused.code ?? refused.status}${refused.requestId ? `, ${refused.requestId}` : ''})`]
      : [],
  )
  const advice =
    'activate them in its dashboard, or remove them from STRIPE_PAYMENT_METHOD_TYPES: while one is refused, no buyer can pay'
  return refused.length > 0
    ? [failure(about, `payments by ${refused.join(', ')} are refused`, advice)]
    : [fine(about, `payments by ${methods.map((one) => one.name).join(', ')} can be started`)]
}

/** Checks whether wallets can show in the checkout, where a seller's site shows it in a frame: each of the sites, and our own host. */
async function checkHosts({ appUrl, database }: Patient, name: string, { hosts }: AccountCheck): Promise<Finding[]> {
  const { protocol, hostname } = new URL(appUrl)
  if (!hosts || protocol !== 'https:') return []
  const about = `${name} wallets`
  const db = await database
  const sites = db ? await registrableHosts(db) : []
  const missing = [hostname, ...sites].filter((host) => !hosts.includes(host))
  if (missing.length === 0)
    return [fine(about, `registered: ${hostname}${sites.length > 0 ? `, and all sites (${sites.length})` : ''}`)]
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : ''
  const isOne = missing.length === 1
  return [
    warning(
      about,
      `${missing.slice(0, MOST_NAMED).join(', ')}${more} ${isOne ? 'is' : 'are'} not registered, or switched off: Apple Pay and Google Pay do not show in a frame there`,
      'the service registers them when it starts and each night; otherwise register them in its dashboard, under payment method domains',
    ),
  ]
}

const MOST_NAMED = 5

/** Checks whether the statement descriptors that we show to buyers are those that their banks print. */
function checkPrefix(name: string, { statementPrefix: theirs }: AccountCheck, ours: string): Finding[] {
  if (theirs === undefined) return []
  const about = `${name} statement`
  if (theirs === ours) return [fine(about, `lines begin with ${ours}, as STATEMENT_PREFIX says`)]
  const advice = theirs
    ? `set STATEMENT_PREFIX=${theirs}, or the shortened descriptor in its dashboard to ${ours}`
    : `set the shortened descriptor in its dashboard to ${ours}`
  return [
    warning(about, `lines begin with ${theirs || 'nothing of the account’s'}, and STATEMENT_PREFIX is ${ours}`, advice),
  ]
}

/** Checks the needs of sellers' own accounts at Stripe: a platform, an address for their events, and its secret. */
function checkSellers(patient: Patient, { takesSellers, lacksForSellers = [], addresses }: AccountCheck): Finding[] {
  const about = 'sellers’ accounts'
  const platform = takesSellers
    ? fine(about, 'can be opened below this account')
    : failure(
        about,
        'cannot be opened: this account is no platform, or the key may not write accounts',
        'set up Connect in the dashboard, or give the restricted key the permissions of Connect',
      )
  const payouts = failure(
    `${about} payouts`,
    `the key may not read ${lacksForSellers.join(', ')}, which sellers’ payouts need`,
    'give the restricted key these permissions, for connected accounts too',
  )
  const secrets = patient.config.stripe?.webhookSecrets.length ?? 0
  const secret = warning(
    `${about} secret`,
    'STRIPE_WEBHOOK_SECRET has one secret, and events of our account and of sellers’ accounts are signed by two',
    'set both, separated by a comma',
  )
  const theirs = addresses?.filter(({ ofSellers }) => ofSellers)
  return [
    platform,
    ...(lacksForSellers.length > 0 ? [payouts] : []),
    ...(secrets < 2 ? [secret] : []),
    ...checkAddresses(patient, 'stripe', theirs, true),
  ]
}

/** Checks whether Razorpay passes money on to sellers' accounts below ours: it does so for accounts that have asked for it. */
const checkRoute = ({ takesSellers }: AccountCheck): Finding[] => [
  takesSellers
    ? fine(
        'sellers’ accounts',
        'can be opened below this account; its dashboard shows whether the webhook has the events of docs/payouts.md',
      )
    : failure(
        'sellers’ accounts',
        'cannot be opened: this account does not have Route, so no seller can sell',
        'ask Razorpay for Route in its dashboard',
      ),
]

/** Checks whether the processor has our address for notifications. */
function checkAddresses(
  { baseUrl, config: { isPublic } }: Patient,
  name: string,
  addresses: NotificationAddress[] | undefined,
  ofSellers = false,
): Finding[] {
  const about = ofSellers ? 'sellers’ accounts notify' : `${name} notifies`
  const wanted = baseUrl + webhookPath(name)
  const where = `in its dashboard, under webhooks${ofSellers ? ', for events of connected accounts' : ''}`
  const { hostname, port } = new URL(baseUrl)
  if (!isPublic && isLoopback(hostname) && !addresses?.some(({ url }) => url === wanted))
    return [
      warning(
        about,
        'no address here: it cannot reach this machine by itself',
        name === 'stripe'
          ? `stripe listen --forward${ofSellers ? '-connect' : ''}-to ${wanted}`
          : 'docs/payments.md says how it can',
      ),
    ]
  if (name === 'razorpay' && port !== '')
    return [warning(about, `no address with a port, such as that of ${baseUrl}`, 'let BASE_URL be one without (https)')]
  if (!addresses) {
    const why = name === 'stripe' ? 'this key may not read the address' : 'only its dashboard shows the address'
    return [fine(about, `${why}: check there that it is ${wanted}`)]
  }
  const ours = addresses.filter(({ url }) => url.replace(/\/+$/, '') === wanted)
  const old = addresses.filter(({ url }) => !ours.some((one) => one.url === url) && url.includes(webhookPath(name)))
  const oldHosts = old
    .map(({ url }) => (URL.canParse(url) ? new URL(url).origin : 'an address that is none'))
    .join(', ')
  if (ours.length === 0) {
    return old.length > 0
      ? [failure(about, `${oldHosts} and not us: an old host?`, `change the address ${where} to ${wanted}`)]
      : [failure(about, 'no address of ours', `add ${wanted} ${where}`)]
  }
  const findings: Finding[] = []
  const enabled = ours.filter((one) => one.enabled)
  if (enabled.length === 0) findings.push(failure(about, `${wanted} is disabled`, `enable it ${where}`))
  const missing = enabled.map(({ missingTypes }) => missingTypes).sort((a, b) => a.length - b.length)[0] ?? []
  if (missing.length > 0)
    findings.push(failure(about, `us, but not of ${missing.join(', ')}`, `choose these events too, ${where}`))
  if (enabled.length > 1)
    findings.push(warning(about, `${wanted} is registered ${enabled.length} times`, `remove all but one ${where}`))
  if (old.length > 0)
    findings.push(
      warning(about, `${oldHosts} too: an old host?`, `remove addresses that are no longer yours, ${where}`),
    )
  return findings.length > 0 ? findings : [fine(about, `${wanted}, of all needed events`)]
}
