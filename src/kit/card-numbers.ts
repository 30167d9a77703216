import type { IncomingHttpHeaders } from 'node:http'
import { latinDigits } from './digits.ts'
import { Refusal } from './errors.ts'

// Finds digits that look like the number of a payment card (ISO/IEC 7812): a network's prefix, a length which that network issues,
// and a right check digit at the end. People sometimes type a card number into the wrong field, and we must not keep it.

const FEWEST_DIGITS = 13
const MOST_DIGITS = 19
/** The refusal names at most this many fields, because a body can hold thousands of card numbers. */
const MOST_PATHS = 10
const LONGEST_PATH = 100
const atLeast = (fewest: number) => (length: number) => length >= fewest

/** The networks' prefixes and lengths. Without the lengths, one in ten long numbers would look like a card number. */
const NETWORKS: [name: string, prefix: RegExp, hasLength: (length: number) => boolean][] = [
  ['Visa', /^4/, (length) => length % 3 === 1],
  ['Mastercard', /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, (length) => length === 16],
  ['American Express', /^3[47]/, (length) => length === 15],
  ['Diners Club', /^3(?:0[0-59]|[689])/, atLeast(14)],
  ['JCB, RuPay', /^35(?:2[89]|[3-8])/, atLeast(16)],
  ['RuPay, UnionPay', /^8[12]/, atLeast(16)],
  ['Maestro, Discover, RuPay, UnionPay', /^(?:50|5[6-8]|6)/, atLeast(13)],
]

/** A cheap first test: a text that does not match holds no card number. Nearly all texts stop here. */
const WORTH_A_LOOK = /[\u0080-\uffff]|\d(?:[ \t-]{0,3}\d){12}|\d{4}[._]\d{4,6}[._]\d{4}/
/** The same test for raw JSON, where a character can be escaped and a number can have a decimal point. */
const JSON_WORTH_A_LOOK = /[\\\u0080-\uffff]|\d(?:[ .\t-]{0,3}\d){12}|\d{4}_\d{4,6}_\d{4}/
/** The same test for an address or a cookie. It ignores the most common encoded characters, such as `@` and `/`. */
const ADDRESS_WORTH_A_LOOK = /%(?:[89a-f]|3\d|2[0d]|09)|\d(?:[ +-]{0,3}\d){12}|\d{4}[._]\d{4,6}[._]\d{4}/i

/** The request headers that the service keeps, whole or in part. */
const READ_HEADERS = ['user-agent', 'idempotency-key', 'x-forwarded-for']
/** Other services of the same domain set cookies too. Long numbers in those are theirs, and the client could not remove them. */
const OWN_COOKIES = /till_[^;]*/g

const BETWEEN_GROUPS = String.raw`[ \t\p{Pd}\p{Cf}\u2212]{1,3}`
/** Groups of digits that are not part of a longer word (an id, a hash, a token) and do not follow the point of a fraction. */
const GROUPS = new RegExp(
  String.raw`(?<![\p{L}\p{N}]|\d\.)\d+(?:${BETWEEN_GROUPS}\d+(?![\p{L}\p{N}]))*(?![\p{L}\p{N}])`,
  'gu',
)
const BETWEEN = new RegExp(BETWEEN_GROUPS, 'u')
/** Points and similar marks occur in versions, dates, paths and fractions. So between them only the groups printed on cards count. */
const AS_PRINTED =
  /(?<![\p{L}\p{N}])\d{4}(?:([._·•])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|([._·•])\d{6}\2\d{4,5})(?![\p{L}\p{N}])/gu
const UUID = /(?<![\p{L}\p{N}])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\p{L}\p{N}])/giu
/** A telephone number in the form that every network dials, of at most 15 digits (E.164). */
const TELEPHONE = /(?<![\p{L}\p{N}])\+\d(?:[ -]?\d){6,14}(?![ -]{0,3}\d)/gu

/** Whether a text holds digits that look like a card's number: in groups or not, in the digits of any script. */
export function holdsCardNumber(text: string): boolean {
  if (!WORTH_A_LOOK.test(text)) return false
  // normalise letters of another width, then remove UUIDs and telephone numbers, which also consist of digits
  const plain = latinDigits(text.normalize('NFKC'))
    .replace(UUID, ';')
    .replace(TELEPHONE, ';')
    .replace(AS_PRINTED, (number) => number.replaceAll(/\D/g, '-'))
  for (const [groups] of plain.matchAll(GROUPS)) if (someAreCard(groups.split(BETWEEN))) return true
  return false
}

/** The same for a body, raw and parsed. The raw text is needed because parsing changes a number of 17 digits. */
export const jsonHoldsCardNumber = (text: string, value: unknown): boolean =>
  JSON_WORTH_A_LOOK.test(text) && (holdsCardNumber(text) || valueHoldsCardNumber(value))

/** The same for the path and query of a request. */
export function addressHoldsCardNumber(address: string): boolean {
  if (!ADDRESS_WORTH_A_LOOK.test(address)) return false
  const decoded = address.replaceAll('+', ' ').replace(/(?:%[\da-f]{2})+/gi, (codes) => {
    try {
      return decodeURIComponent(codes)
    } catch {
      return codes
    }
  })
  return holdsCardNumber(decoded)
}

/** The same for the head of a request: its address and the headers that we keep. */
export function headHoldsCardNumber({ url, headers }: { url: string; headers: IncomingHttpHeaders }): boolean {
  if (addressHoldsCardNumber(url)) return true
  const own = headers.cookie?.match(OWN_COOKIES)
  if (own?.some(addressHoldsCardNumber)) return true
  return READ_HEADERS.some((name) => {
    const value = headers[name]
    return value !== undefined && holdsCardNumber(String(value))
  })
}

/** Names the headers that hold a card number. For a number in the address there is no field to name. */
export const refusalOfHead = ({ headers }: { headers: IncomingHttpHeaders }): Refusal =>
  refusal(
    ['cookie', ...READ_HEADERS].filter((name) => headHoldsCardNumber({ url: '', headers: { [name]: headers[name] } })),
  )

/** Names the members of a body that hold a card number, except members whose path itself contains one. */
export const refusalOfBody = (value: unknown): Refusal =>
  refusal(
    [...new Set(pathsIn(value, ''))]
      .filter((path) => path !== '' && path.length <= LONGEST_PATH && !holdsCardNumber(path))
      .slice(0, MOST_PATHS),
  )

const refusal = (paths: readonly string[]): Refusal =>
  new Refusal(
    'card_number_refused',
    'Nothing of this request was kept: card numbers are typed only into the payment form.',
    {
      ...(paths.length > 0 && { fields: paths.map((path) => ({ path, message: 'looks like the number of a card' })) }),
    },
  )

function pathsIn(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return valueHoldsCardNumber(value) ? [path] : []
  return Object.entries(value).flatMap(([name, member]) =>
    holdsCardNumber(name) ? [path] : pathsIn(member, path === '' ? name : `${path}.${name}`),
  )
}

function valueHoldsCardNumber(value: unknown): boolean {
  if (typeof value === 'string') return holdsCardNumber(value)
  if (typeof value === 'number') return holdsCardNumber(String(value))
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => holdsCardNumber(name) || valueHoldsCardNumber(member))
}

/** Whether some adjacent groups form a card number. Other groups, such as a quantity or a date, may stand before and after it. */
function someAreCard(groups: readonly string[]): boolean {
  const digits = groups.join('')
  const starts = [0]
  for (const group of groups) starts.push(starts.at(-1)! + group.length)
  return starts.some((start, first) => {
    const beginning = digits.slice(start, start + MOST_DIGITS)
    if (beginning.length < FEWEST_DIGITS) return false
    const networks = NETWORKS.filter(([, prefix]) => prefix.test(beginning))
    if (networks.length === 0) return false
    for (let next = first + 1; next < starts.length && starts[next]! - start <= MOST_DIGITS; next++) {
      const length = starts[next]! - start
      if (length < FEWEST_DIGITS || !networks.some(([, , hasLength]) => hasLength(length))) continue
      if (isChecked(beginning.slice(0, length))) return true
    }
    return false
  })
}

/** Luhn's sum: from the right, every second digit counts twice. */
function isChecked(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    sum += place % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}
