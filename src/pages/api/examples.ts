/** The part of JSON Schema that our routes use. */
export interface JsonSchema {
  /** A named schema of the document. The other fields are then absent. */
  $ref?: string
  type?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  examples?: unknown[]
  anyOf?: JsonSchema[]
  items?: JsonSchema
  additionalProperties?: JsonSchema | boolean
  properties?: Record<string, JsonSchema>
  required?: string[]
  pattern?: string
  minimum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
}

const ID_END = '_01m7ykh6z4jeg0288a8xtt7qep'
const TIME = '2026-11-21T08:28:29.147Z'
const pictureOf = (size: string) => `https://api.shop.example/api/images/img${ID_END}/${size}`
/** Example values by the name of a field, for fields without examples of their own. */
const BY_NAME: Record<string, unknown> = {
  amount: 1900,
  balance: 186_200,
  browser: 'Firefox on Linux',
  buckets: [],
  chosenAmount: 2500,
  category: 'standard',
  clientSecret: 'sbx_pi_f12e7329332441c7_secret_tfstocacjCIVG9O5',
  code: '493027',
  contentType: 'application/pdf',
  country: 'DE',
  currency: 'USD',
  date: '2026-11-21',
  description: 'Two hundred quiet pages.',
  detail: 'There is no such order.',
  discountAmount: 300,
  discountCode: 'SPRING',
  email: 'bob@example.com',
  fee: 38,
  html: '<p>Thank you for buying The Quiet Handbook.</p>',
  idempotencyKey: '0f8f2c1e-6a53-4c3e-9a51-6f0e2f9f1d11',
  imageUrl: 'https://api.shop.example/api/images/img_01m7ykh6z4jeg0288a8xtt7qep/640',
  issuer: 'https://login.example.com',
  more: false,
  name: 'The Quiet Handbook',
  nextCursor: null,
  nextPollMs: null,
  password: 'four words of my own',
  newPassword: 'four words of my own',
  percentOff: 20,
  period: '2026-Q4',
  orderUrl: `https://shop.example/order/?order=ord${ID_END}`,
  outcome: 'open',
  payUrl: `https://shop.example/pay/?product=prod${ID_END}`,
  processor: 'sandbox',
  publishableKey: 'pk_sandbox',
  q: 'quiet',
  reason: 'A chapter was missing.',
  recentUntil: '2026-11-21T08:38:29.147Z',
  refundedAmount: 0,
  returnTo: '/account/',
  resendAfter: 30,
  sha256: 'f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2',
  size: 1_482_731,
  statementDescriptor: 'TILL* QUIET HANDBOOK',
  statementSuffix: 'QUIET HANDBOOK',
  status: 'paid',
  subject: 'Your purchase: The Quiet Handbook',
  suggestedAmount: 2500,
  sync: '1',
  text: 'Thank you for buying The Quiet Handbook.',
  timeZone: 'Europe/Berlin',
  to: 'bob@example.com',
  token: 'b3JkXzAx.c2lnbmF0dXJl',
  validFrom: '2026-01-01',
  validTo: null,
  what: 'paid',
}
/** Example values that depend on the object around the field. */
const BY_PLACE: Record<string, unknown> = {
  'checkout.status': 'pending',
  'downloads.name': 'quiet-handbook.pdf',
  'downloads.url': 'https://api.shop.example/api/downloads/b3JkXzAx.c2lnbmF0dXJl',
  'file.name': 'quiet-handbook.pdf',
  'files.name': 'quiet-handbook.pdf',
  ...Object.fromEntries(['320', '640', '1280', 'preview'].map((size) => [`images.${size}`, pictureOf(size)])),
  'product.status': 'active',
  'products.status': 'active',
  'seller.email': 'ann@example.com',
  'seller.name': 'Ann Bell',
}
/** Fields that do not fit the other values of an example. */
const ELSEWHERE = new Set(['canPay', 'paymentFailed', 'pendingEmail', 'emailMove'])
/** The prefix of an `id`, by the field or the part of the address around it. */
const KINDS: Record<string, string> = {
  charges: 'ord',
  discount: 'dsc',
  file: 'file',
  identity: 'idn',
  key: 'key',
  identitie: 'idn',
  image: 'img',
  order: 'ord',
  outbox: 'mail',
  product: 'prod',
  refund: 'ref',
  seller: 'sel',
  session: 'ses',
  transfer: 'trf',
}

/**
 * An example for a schema: the first of its own `examples`, or one made of its fields' examples by their names. `whole`: a response has
 * all its fields, a body only the required ones.
 */
export function exampleOf(schema: JsonSchema, around: string, whole: boolean, name = ''): unknown {
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.anyOf) return exampleOfUnion(schema.anyOf, around, whole, name)
  if (schema.properties && schema.type === 'object') return exampleOfObject(schema, around, whole)
  const named = byName(name, schema, around)
  if (named !== undefined) return named
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'array') return schema.items && schema.maxItems !== 0 ? [exampleOf(schema.items, name && name !== 'items' ? name : around, whole, '')] : [] // oxfmt-ignore
  if (schema.type === 'string') return 'text'.padEnd(schema.minLength ?? 0, 't').slice(0, schema.maxLength)
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0
  return schema.type === 'boolean' ? true : schema.type === 'object' ? {} : null
}

function exampleOfUnion(kinds: JsonSchema[], around: string, whole: boolean, name: string): unknown {
  const named = kinds.map((kind) => byName(name, kind, around)).find((value) => value !== undefined)
  return named !== undefined ? named : exampleOf(kinds.find(({ type }) => type !== 'null') ?? {}, around, whole, name)
}

function exampleOfObject({ properties = {}, required = [] }: JsonSchema, around: string, whole: boolean): object {
  const names = Object.keys(properties)
  const chosen = whole ? names.filter((one) => !ELSEWHERE.has(one)) : required.length > 0 ? required : names.slice(0, 1)
  return Object.fromEntries(
    names
      .filter((one) => chosen.includes(one))
      .map((one) => {
        const member = properties[one]!
        const isNamed = member.type === 'object' || member.type === 'array'
        return [one, exampleOf(member, isNamed && one !== 'items' ? one : around, whole, one)]
      }),
  )
}

/** Undefined when the name has no example, or one that the schema does not allow. */
function byName(name: string, schema: JsonSchema, around: string): unknown {
  const prefix = /^\^([a-z]+)_\[/.exec(schema.pattern ?? '')?.[1]
  const of = name === 'id' ? around : /^(\w+)Id$/.exec(name)?.[1]
  const kind = prefix ?? KINDS[of?.replace(/s$/, '') ?? '']
  const place = `${around}.${name}`
  const known = kind
    ? kind + ID_END
    : place in BY_PLACE
      ? BY_PLACE[place]
      : name in BY_NAME
        ? BY_NAME[name]
        : byEnding(name)
  return known !== undefined && allows(schema, known) ? known : undefined
}

function byEnding(name: string): unknown {
  if (/(?:At|Until)$|^(?:at|from)$/.test(name)) return TIME
  return /(?:Url|^url)$/.test(name) ? 'https://shop.example/' : undefined
}

const TYPES: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  null: (value) => value === null,
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

function allows(
  { type, enum: allowed, pattern, minimum, minLength = 0, maxLength = Infinity }: JsonSchema,
  value: unknown,
): boolean {
  // oxfmt-ignore
  if (allowed) return allowed.includes(value)
  if (type && !TYPES[type]?.(value)) return false
  if (typeof value === 'number') return value >= (minimum ?? -Infinity)
  if (typeof value !== 'string') return true
  return value.length >= minLength && value.length <= maxLength && new RegExp(pattern ?? '', 'u').test(value)
}
