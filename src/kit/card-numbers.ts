import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from './errors.ts'

// What looks like the number of a payment card (ISO/IEC 7812): digits of a length its network issues, behind that network's
// prefix, the last of them the check digit. It is looked for where people might leave one by mistake, so that it is not kept.

const FEWEST_DIGITS = 13
const MOST_DIGITS = 19
/** Of what is named to who sent it: a body of nothing else has thousands. */
const MOST_PATHS = 10
const LONGEST_PATH = 100
const atLeast = (fewest: number) => (length: number) => length >= fewest

/** Prefixes and lengths as the networks have them: without the lengths, every tenth long number would be taken for a card's. */
const NETWORKS: [name: string, prefix: RegExp, hasLength: (length: number) => boolean][] = [
  ['Visa', /^4/, (length) => length % 3 === 1],
  ['Mastercard', /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, (length) => length === 16],
  ['American Express', /^3[47]/, (length) => length === 15],
  ['Diners Club', /^3(?:0[0-59]|[689])/, atLeast(14)],
  ['JCB, RuPay', /^35(?:2[89]|[3-8])/, atLeast(16)],
  ['RuPay, UnionPay', /^8[12]/, atLeast(16)],
  ['Maestro, Discover, RuPay, UnionPay', /^(?:50|5[6-8]|6)/, atLeast(13)],
]

/** Nothing without this holds a number: one look at plain text, which is nearly all there is. */
const WORTH_A_LOOK = /[\u0080-\uffff]|\d(?:[ \t-]{0,3}\d){12}|\d{4}[._]\d{4,6}[._]\d{4}/
/** The same for JSON as it was sent, where a character can be written as its code, and a number with a point. */
const JSON_WORTH_A_LOOK = /[\\\u0080-\uffff]|\d(?:[ .\t-]{0,3}\d){12}|\d{4}_\d{4,6}_\d{4}/
/** And for an address, or a cookie: what it has encoded is mostly an `@` or a `/`. */
const ADDRESS_WORTH_A_LOOK = /%(?:[89a-f]|3\d|2[0d]|09)|\d(?:[ +-]{0,3}\d){12}|\d{4}[._]\d{4,6}[._]\d{4}/i

/** What of a request's head is kept, as it came or in part. */
const READ_HEADERS = ['user-agent', 'idempotency-key', 'x-forwarded-for']
/** Not those that other services of the same domain set: long numbers there are theirs, and nobody could do anything about them. */
const OWN_COOKIES = /till_[^;]*/g

const BETWEEN_GROUPS = String.raw`[ \t\p{Pd}\p{Cf}\u2212]{1,3}`
/** Groups of digits that stand for themselves: what is part of a longer word is an id, a hash or a token, and `0.` begins a fraction. */
const GROUPS = new RegExp(
  String.raw`(?<![\p{L}\p{N}]|\d\.)\d+(?:${BETWEEN_GROUPS}\d+(?![\p{L}\p{N}]))*(?![\p{L}\p{N}])`,
  'gu',
)
const BETWEEN = new RegExp(BETWEEN_GROUPS, 'u')
/** With other marks, which versions, dates, paths and fractions are full of, only in the groups that cards are printed in. */
const AS_PRINTED =
  /(?<![\p{L}\p{N}])\d{4}(?:([._·•])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|([._·•])\d{6}\2\d{4,5})(?![\p{L}\p{N}])/gu
const UUID = /(?<![\p{L}\p{N}])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\p{L}\p{N}])/giu
/** A telephone number in the form that every network dials, of at most 15 digits (E.164). */
const TELEPHONE = /(?<![\p{L}\p{N}])\+\d(?:[ -]?\d){6,14}(?![ -]{0,3}\d)/gu

/** Whether a text holds what looks like a card's number: in groups or not, in the digits of any script. */
export function holdsCardNumber(text: string): boolean {
  if (!WORTH_A_LOOK.test(text)) return false
  // letters of another width are the same letters; then what is written with digits and is something else goes
  const plain = text
    .normalize('NFKC')
    .replace(/(?![0-9])\p{Nd}/gu, latinDigit)
    .replace(UUID, ';')
    .replace(TELEPHONE, ';')
    .replace(AS_PRINTED, (number) => number.replaceAll(/\D/g, '-'))
  for (const [groups] of plain.matchAll(GROUPS)) if (someAreCard(groups.split(BETWEEN))) return true
  return false
}

/** The same for a body: as it was sent, since a number of 17 digits is another one once it is read, and as it was understood. */
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

/** The same for the head of a request: its address, and the headers that we read. */
export function headHoldsCardNumber({ url, headers }: { url: string; headers: IncomingHttpHeaders }): boolean {
  if (addressHoldsCardNumber(url)) return true
  const own = headers.cookie?.match(OWN_COOKIES)
  if (own?.some(addressHoldsCardNumber)) return true
  return READ_HEADERS.some((name) => {
    const value = headers[name]
    return value !== undefined && holdsCardNumber(String(value))
  })
}

/** Names the headers that hold one; a number in the address has no name. */
export const refusalOfHead = ({ headers }: { headers: IncomingHttpHeaders }): Refusal =>
  refusal(
    ['cookie', ...READ_HEADERS].filter((name) => headHoldsCardNumber({ url: '', headers: { [name]: headers[name] } })),
  )

/** Names the members of a body that hold one, as far as their paths tell no number themselves. */
export const refusalOfBody = (value: unknown): Refusal =>
  refusal(
    [...new Set(pathsIn(value, ''))]
      .filter((path) => path !== '' && path.length <= LONGEST_PATH && !holdsCardNumber(path))
      .slice(0, MOST_PATHS),
  )

const refusal = (paths: readonly string[]): Refusal =>
  new Refusal('card_number_refused', 'Nothing of it was kept: card numbers are typed only into the payment form.', {
    ...(paths.length > 0 && { fields: paths.map((path) => ({ path, message: 'looks like the number of a card' })) }),
  })

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

/** Whether neighbours among the groups make up a number: before it and after it others may stand, a quantity or a date. */
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

/** Unicode keeps the ten digits of a script in a row, from zero. */
function latinDigit(digit: string): string {
  const code = digit.codePointAt(0)!
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++
  return String(before % 10)
}
