import { exactMoment } from '../../../ui/format.ts'
import type { Delivery, Try } from './deliveries-api.ts'

type Tone = 'good' | 'bad' | 'quiet'

/** A delivery in two words. */
export function stateOf({ status, lastTry }: Delivery): [words: string, tone: Tone] {
  if (status === 'delivered') return ['Delivered', 'good']
  if (status === 'failed') return ['Given up', 'bad']
  return lastTry?.error ? ['Failing', 'bad'] : ['Waiting', 'quiet']
}

/** The answer to a try: "500 in 32 ms". */
export const outcome = ({ status, error, tookMs }: Try): string =>
  `${status ?? ERRORS[error ?? 'refused'].short} in ${tookMs} ms`

/** The next step, if there is one. */
export function nextWords({ status, tries, nextTryAt }: Delivery, isPaused: boolean): string | undefined {
  if (status === 'failed') return `${tries} tries have failed. A replay sends it again.`
  if (status !== 'waiting') return undefined
  if (isPaused) return 'It waits until you resume the endpoint.'
  if (!nextTryAt || Date.parse(nextTryAt) <= Date.now()) return 'It is sent as soon as it is its turn.'
  return `${tries === 0 ? 'It is sent' : 'Next try'} ${exactMoment(nextTryAt)}.`
}

type Failure = NonNullable<Try['error']>

/** Every class of failure: a short name for the list, a sentence about the failure, and the advice. */
const ERRORS: Record<Failure, { short: string; happened: string; helps: string }> = {
  dns: {
    short: 'Name not found',
    happened: 'We did not find the receiver’s name (DNS).',
    helps: 'Check the address for a typing error, and whether the name exists.',
  },
  tls: {
    short: 'Certificate refused',
    happened: 'There was no safe connection (TLS).',
    helps: 'Check that the certificate is valid, fits the name, and comes with its intermediate certificates.',
  },
  timeout: {
    short: 'No answer in time',
    happened: 'The receiver did not answer within 15 seconds.',
    helps:
      'Store the event in a queue of your own, then answer, and do slow work afterwards. Check also that no firewall swallows our requests.',
  },
  refused: {
    short: 'No connection',
    happened: 'The connection was refused, or it broke off.',
    helps: 'Check that your program runs and listens at this address and port.',
  },
  blocked: {
    short: 'Not sent',
    happened: 'The address leads to a private network, so we did not connect.',
    helps: 'Use an address of the public internet.',
  },
  secret: {
    short: 'Not sent',
    happened: 'The service cannot read the secret of this endpoint any more, so nothing was sent.',
    helps: 'Rotate the secret, and give your program the new one.',
  },
  status: {
    short: 'Refused',
    happened: 'The receiver answered, but with a failure.',
    helps: 'Look into the log of your program at this time.',
  },
}

/** The outcome of a try, in a sentence. */
export function happened({ status, error }: Try): string {
  if (!error) return `The receiver took it: it answered ${status}.`
  return error === 'status' && status ? `${answered(status)}` : ERRORS[error].happened
}

function answered(status: number): string {
  if (status >= 300 && status < 400) return `The receiver answered ${status}. We follow no redirect.`
  return `The receiver answered ${status}. Only 2xx means that it has taken the delivery.`
}

/** The advice for a failed try. */
export function whatHelps({ status, error }: Try): string | undefined {
  if (!error) return undefined
  if (error !== 'status' || !status) return ERRORS[error].helps
  if (status >= 300 && status < 400) return 'Enter the address to which it redirects.'
  return STATUS_HELPS[status] ?? ERRORS.status.helps
}

const STATUS_HELPS: Record<number, string> = {
  400: 'If your program checks the signature: does it have this endpoint’s secret, and the body as it came, unparsed?',
  401: 'Does your program have the present secret of this endpoint?',
  403: 'Does your program, or a firewall before it, refuse requests without a session or a token?',
  404: 'Does your program listen at exactly this path?',
  405: 'Your program has to take POST at this path.',
  410: 'With 410 your program says that it wants nothing more, so we have paused the endpoint.',
  413: 'Your program, or a proxy before it, has to take bodies of this size.',
  429: 'Your program asks us to be slower. We wait as long as its Retry-After says.',
}
