import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ConfigError, readConfig } from '../../src/config.ts'
import { EVENT_DAYS_LEAST } from '../../src/config/retention.ts'
import { EVENTS_DAYS } from '../../src/processors/stripe/history.ts'
import { bareEnvironment } from '../support/service.ts'
import { temporaryFolder } from '../support/shop.ts'

const SECRET = 's'.repeat(32)
const OTHER_SECRET = 't'.repeat(40)

/** A service that real users reach, with all that it needs. */
const PUBLIC = {
  PUBLIC: '1',
  BASE_URL: 'https://api.shop.example',
  APP_URL: 'https://shop.example',
  SECRET,
  SMTP_URL: 'smtps://shop:password@mail.example',
  MAIL_FROM: 'The shop <shop@shop.example>',
  PROCESSORS: 'none',
  TRUST_PROXY: '1',
}

const STRIPE = {
  STRIPE_SECRET_KEY: 'sk_test_51Secret',
  STRIPE_PUBLISHABLE_KEY: 'pk_test_51Public',
  STRIPE_WEBHOOK_SECRET: 'whsec_signs',
}
const RAZORPAY = {
  RAZORPAY_KEY_ID: 'rzp_test_1DP5mm',
  RAZORPAY_KEY_SECRET: 'a secret of razorpay’s',
  RAZORPAY_WEBHOOK_SECRET: 'a secret that signs',
}

const IDP = {
  IDP_ISSUER: 'https://idp.example/tenant',
  IDP_CLIENT_ID: 'till-1',
  IDP_CLIENT_SECRET: 'a secret of the provider’s',
}

/** The settings that are complained of, by their names, in order. */
function wrong(env: Record<string, string>): string[] {
  try {
    readConfig({ SECRET, ...env })
  } catch (error) {
    assert(error instanceof ConfigError)
    for (const name of ['SECRET', 'DATABASE_URL', 'SMTP_URL', 'IDP_CLIENT_SECRET'])
      if ((env[name] ?? '').length > 12) assert(!error.message.includes(env[name]!), `${name}’s value is repeated`)
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(':')[0]!)
  }
  return []
}

test('no setting is required', async (t) => {
  const { secrets, ...config } = readConfig({ DATA_DIR: await temporaryFolder(t) })
  assert.deepEqual(
    { ...config, dataDir: '', storageDir: path.relative(config.dataDir, config.storageDir) },
    {
      port: 4000,
      host: '127.0.0.1',
      baseUrl: undefined,
      appUrl: undefined,
      cookieDomain: undefined,
      isPublic: false,
      demoOnNetwork: false,
      // the documents promise most of them: checkout, integrate, operation, storage and webhooks
      deadlines: {
        processorCallMs: 8_000,
        syncBudgetMs: 4_000,
        syncPauseMs: 3_000,
        statusWaitMs: 2_000,
        webhookAskMs: 4_000,
        identityProviderMs: 3_000,
        deliveryTryMs: 15_000,
        smtpMs: 10_000,
        mailMs: 40_000,
        storageQuestionMs: 3_000,
        partTurnMs: 30_000,
        partFillMs: 180_000,
      },
      dataDir: '',
      databaseUrl: undefined,
      backup: undefined,
      backupIsOff: false,
      drillRestoreCommand: undefined,
      storageDir: 'files',
      storageReserveBytes: 1024 ** 3,
      s3: undefined,
      uploads: { maxBytes: 10 * 1024 ** 3, quotaBytes: 100 * 1024 ** 3, untrustedQuotaBytes: 1024 ** 3 },
      signup: 'open',
      operators: [],
      idp: undefined,
      smtpUrl: undefined,
      mailFrom: 'Till <till@localhost>',
      mailConnections: 32,
      processors: ['sandbox'],
      stripe: undefined,
      payouts: { by: 'manual', isSet: false, holdDays: 7, schedule: 'weekly', minimumMinor: {}, from: undefined },
      razorpay: undefined,
      statementPrefix: 'TILL',
      orderTtlHours: { instant: 24, bank: 168 },
      limits: {
        request: { count: 3000, seconds: 60 },
        checkout: { count: 30, seconds: 60 },
        checkout_product: { count: 20_000, seconds: 60 },
        status: { count: 60, seconds: 60 },
        wrong_email: { count: 10, seconds: 3600 },
        discount: { count: 100, seconds: 3600 },
        free_mail: { count: 10, seconds: 3600 },
        free_mail_network: { count: 100, seconds: 86_400 },
        free_mail_seller: { count: 20, seconds: 86_400 },
        free_mail_strangers: { count: 200, seconds: 86_400 },
        receipt: { count: 5, seconds: 3600 },
        invoice: { count: 300, seconds: 60 },
        withdrawal: { count: 10, seconds: 3600 },
        sandbox: { count: 60, seconds: 60 },
        code: { count: 3, seconds: 900 },
        code_address: { count: 10, seconds: 3600 },
        code_try: { count: 10, seconds: 3600 },
        mailbox: { count: 60, seconds: 3600 },
        mailbox_site: { count: 15, seconds: 3600 },
        password: { count: 10, seconds: 900 },
        payout_account: { count: 20, seconds: 3600 },
        idp: { count: 30, seconds: 60 },
        key: { count: 600, seconds: 60 },
        key_secret: { count: 30, seconds: 3600 },
        endpoint_address: { count: 30, seconds: 3600 },
        site: { count: 60, seconds: 3600 },
        support_address: { count: 10, seconds: 3600 },
      },
      trustProxy: false,
      countryHeader: undefined,
      viesUrl: undefined,
      metricsToken: undefined,
      drainSeconds: 0,
      retention: { eventDays: 90, outboxDays: 30 },
      logLevel: 'info',
      demo: true,
      webhookReach: 'loopback',
      startedByNpm: false,
    },
  )
  assert.equal(secrets.length, 1)
})

test('each setting has its effect', () => {
  const config = readConfig({
    PORT: '0',
    HOST: '::1',
    BASE_URL: 'http://localhost:4000/',
    APP_URL: 'HTTP://LOCALHOST:80',
    DATA_DIR: '/var/till',
    DATABASE_URL: 'postgresql://app:pw@db:5432/till',
    STORAGE_URL: 'file:///var/files',
    SECRET: ` ${SECRET} , ${OTHER_SECRET} `,
    SMTP_URL: 'smtp://localhost:2525',
    MAIL_FROM: 'A <a@b.example>',
    PROCESSORS: 'sandbox',
    STATEMENT_PREFIX: 'ANN.S-9',
    ORDER_TTL_HOURS: '2, 48',
    LIMITS: 'checkout=100/60, status=1/3600',
    TRUST_PROXY: '2',
    LOG_LEVEL: 'debug',
    DEMO: 'no',
    SIGNUP: 'closed',
    ...IDP,
    IDP_LABEL: 'Example',
    IDP_AUTH_METHOD: 'client_secret_basic',
  })
  const { port, host, baseUrl, appUrl, dataDir, databaseUrl, storageDir, secrets, smtpUrl, mailFrom } = config
  assert.deepEqual([port, host, baseUrl, appUrl], [0, '::1', 'http://localhost:4000', 'http://localhost'])
  assert.deepEqual([dataDir, databaseUrl, storageDir], ['/var/till', 'postgresql://app:pw@db:5432/till', '/var/files'])
  assert.deepEqual([secrets, smtpUrl, mailFrom], [[SECRET, OTHER_SECRET], 'smtp://localhost:2525', 'A <a@b.example>'])
  assert.deepEqual(
    [config.statementPrefix, config.orderTtlHours, config.trustProxy],
    ['ANN.S-9', { instant: 2, bank: 48 }, 2],
  )
  assert.deepEqual(
    [config.limits.checkout, config.limits.status],
    [
      { count: 100, seconds: 60 },
      { count: 1, seconds: 3600 },
    ],
  )
  assert.deepEqual(config.limits.receipt, { count: 5, seconds: 3600 }, 'limits that are not named keep their defaults')
  assert.deepEqual([config.logLevel, config.demo, config.processors], ['debug', false, ['sandbox']])
  assert.deepEqual(
    [config.signup, config.idp],
    [
      'closed',
      {
        issuer: 'https://idp.example/tenant',
        clientId: 'till-1',
        clientSecret: 'a secret of the provider’s',
        authMethod: 'client_secret_basic',
        label: 'Example',
      },
    ],
  )
  assert(Object.isFrozen(config))
})

test('an identity provider is all of its settings, or none', () => {
  const { idp } = readConfig({ SECRET, ...IDP })
  assert.deepEqual([idp?.authMethod, idp?.label], ['client_secret_post', 'your company account'])
  for (const name of ['IDP_ISSUER', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET'] as const) {
    assert.deepEqual(wrong({ ...IDP, [name]: '' }), [name])
    const others = ['IDP_ISSUER', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET'].filter((other) => other !== name)
    assert.deepEqual(wrong({ [name]: IDP[name] }), others)
  }
  const required = ['IDP_ISSUER', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET']
  for (const [name, value] of [
    ['IDP_LABEL', 'Example'],
    ['IDP_AUTH_METHOD', 'client_secret_basic'],
  ])
    assert.deepEqual(wrong({ [name!]: value! }), required, 'a part of one is not taken for none')
  assert.equal(readConfig({ SECRET, ...IDP, IDP_LABEL: 'x'.repeat(500) }).idp!.label.length, 60)
  for (const issuer of [
    'http://localhost:3000',
    'http://127.0.0.1:3000/x',
    'http://[::1]:3000',
    'https://idp.example/',
  ])
    assert.equal(readConfig({ SECRET, ...IDP, IDP_ISSUER: issuer }).idp!.issuer, issuer)
  assert.deepEqual(wrong({ ...PUBLIC, ...IDP, IDP_ISSUER: 'http://localhost:3000' }), ['IDP_ISSUER'])
  assert.deepEqual(wrong({ ...PUBLIC, ...IDP }), [])
})

test('the cookie’s domain is one that both hosts lie in', () => {
  const hosts = (COOKIE_DOMAIN: string, BASE_URL: string, APP_URL: string) => ({ COOKIE_DOMAIN, BASE_URL, APP_URL })
  const right = [
    hosts('shop.example', 'https://api.shop.example', 'https://app.shop.example'),
    hosts('.Shop.Example', 'https://shop.example', 'https://app.shop.example'),
    hosts('shop.example', 'https://shop.example', 'https://shop.example'),
    hosts('shop.example', 'https://a.b.shop.example', 'https://shop.example'),
  ]
  for (const env of right) assert.equal(readConfig({ ...PUBLIC, ...env }).cookieDomain, 'shop.example')
  const apart = [
    hosts('shop.example', 'https://api.shop.example', 'https://app.other.example'),
    hosts('shop.example', 'https://api.other.example', 'https://app.shop.example'),
    hosts('shop.example', 'https://evilshop.example', 'https://app.shop.example'),
    hosts('api.shop.example', 'https://api.shop.example', 'https://app.shop.example'),
    hosts('shop.example', '', ''),
    hosts('shop.example', 'https://shop.example.evil.example', 'https://shop.example'),
    hosts('shop.example', 'http://127.0.0.1:4000', 'http://127.0.0.1:4000'),
  ]
  for (const env of apart) assert(wrong({ ...PUBLIC, ...env }).includes('COOKIE_DOMAIN'), JSON.stringify(env))
})

const PAYER = { PAYOUT_FROM_NAME: 'Till GmbH', PAYOUT_FROM_IBAN: 'DE89370400440532013000' }
const RIGHT: Record<string, [string, (config: ReturnType<typeof readConfig>) => unknown, unknown][]> = {
  TRUST_PROXY: [
    ['0', ({ trustProxy }) => trustProxy, false],
    ['no', ({ trustProxy }) => trustProxy, false],
    ['none', ({ trustProxy }) => trustProxy, false],
    ['1', ({ trustProxy }) => trustProxy, 1],
    ['5', ({ trustProxy }) => trustProxy, 5],
    ['10.0.0.0/8, ::1, loopback', ({ trustProxy }) => trustProxy, '10.0.0.0/8, ::1, loopback'],
    ['2001:db8::/32', ({ trustProxy }) => trustProxy, '2001:db8::/32'],
  ],
  ORDER_TTL_HOURS: [
    ['1', ({ orderTtlHours }) => orderTtlHours, { instant: 1, bank: 168 }],
    ['200', ({ orderTtlHours }) => orderTtlHours, { instant: 200, bank: 200 }],
    ['48,24', ({ orderTtlHours }) => orderTtlHours, { instant: 48, bank: 48 }],
  ],
  LIMITS: [['off', ({ limits }) => limits, {}]],
  PROCESSORS: [['none', ({ processors }) => processors, []]],
  STORAGE_URL: [
    ['file:files', ({ storageDir }) => storageDir, 'files'],
    ['file:///srv/files', ({ storageDir }) => storageDir, '/srv/files'],
    ['file://localhost/srv/files', ({ storageDir }) => storageDir, '/srv/files'],
    [
      's3://my.bucket?region=eu-west-1',
      ({ s3 }) => s3,
      { bucket: 'my.bucket', region: 'eu-west-1', endpoint: undefined, publicEndpoint: undefined, keys: undefined },
    ],
  ],
  STORAGE_QUOTA_BYTES: [['0', ({ uploads }) => uploads.quotaBytes, 0]],
  STORAGE_QUOTA_UNTRUSTED_BYTES: [['0', ({ uploads }) => uploads.untrustedQuotaBytes, 0]],
  STORAGE_RESERVE_BYTES: [['0', ({ storageReserveBytes }) => storageReserveBytes, 0]],
  STATEMENT_PREFIX: [['A.B-C 9', ({ statementPrefix }) => statementPrefix, 'A.B-C 9']],
  PUBLIC: [['no', ({ isPublic }) => isPublic, false]],
  SIGNUP: [
    ['open', ({ signup }) => signup, 'open'],
    ['closed', ({ signup }) => signup, 'closed'],
    ['approval', ({ signup }) => signup, 'approval'],
  ],
  OPERATORS: [
    [
      ' Ann@Example.com,bob@example.com, ann@example.com',
      ({ operators }) => operators,
      ['ann@example.com', 'bob@example.com'],
    ],
  ],
  PORT: [['65535', ({ port }) => port, 65_535]],
  EVENT_RETENTION_DAYS: [
    ['35', ({ retention }) => retention.eventDays, 35],
    ['3650', ({ retention }) => retention.eventDays, 3650],
  ],
  PAYOUT_HOLD_DAYS: [
    ['0', ({ payouts }) => payouts.holdDays, 0],
    ['180', ({ payouts }) => payouts.holdDays, 180],
  ],
  PAYOUT_SCHEDULE: [['monthly', ({ payouts }) => payouts.schedule, 'monthly']],
  PAYOUT_MINIMUM: [
    [' 20 EUR,500.5 INR, 1000 JPY ', ({ payouts }) => payouts.minimumMinor, { EUR: 2000, INR: 50_050, JPY: 1000 }],
  ],
  PAYOUT_FROM_BIC: [['COBADEFFXXX', ({ payouts }) => payouts.from?.bic, 'COBADEFFXXX']],
  PAYOUT_FROM_IBAN: [[' de89 3704 0044 0532 0130 00 ', ({ payouts }) => payouts.from?.iban, PAYER.PAYOUT_FROM_IBAN]],
  PAYOUT_FROM_NAME: [['Till & Söhne', ({ payouts }) => payouts.from?.name, 'Till & Söhne']],
  OUTBOX_RETENTION_DAYS: [['1', ({ retention }) => retention.outboxDays, 1]],
}
for (const [name, cases] of Object.entries(RIGHT)) {
  test(`${name} may be ${cases.map(([value]) => value).join(' or ')}`, () => {
    for (const [value, read, expected] of cases)
      assert.deepEqual(
        read(readConfig({ SECRET, ...(name.startsWith('PAYOUT_FROM_') && PAYER), [name]: value })),
        expected,
        value,
      )
  })
}

test('events are kept for longer than Stripe lists them, and a shorter time is refused with that reason', () => {
  assert(EVENT_DAYS_LEAST > EVENTS_DAYS)
  assert.throws(
    () => readConfig({ SECRET, EVENT_RETENTION_DAYS: '34' }),
    /35 to 3650 days, because Stripe lists events for 30 days/,
  )
})

test('a bucket that is not Amazon’s needs both keys, which are never repeated', () => {
  const STORAGE_URL = 's3://files?endpoint=http://minio:9000&public=https://files.example'
  const [S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY] = ['an id of a key', 'a secret of a key']
  const { s3 } = readConfig({ SECRET, STORAGE_URL, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY })
  assert.deepEqual(s3, {
    bucket: 'files',
    region: 'us-east-1',
    endpoint: 'http://minio:9000',
    publicEndpoint: 'https://files.example',
    keys: { id: S3_ACCESS_KEY_ID, secret: S3_SECRET_ACCESS_KEY },
  })
  assert.deepEqual(wrong({ STORAGE_URL }), ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'])
  assert.deepEqual(wrong({ STORAGE_URL, S3_ACCESS_KEY_ID }), ['S3_SECRET_ACCESS_KEY'])
  assert.deepEqual(wrong({ STORAGE_URL: 's3://files?region=eu-west-1', S3_SECRET_ACCESS_KEY }), ['S3_ACCESS_KEY_ID'])
})

const WRONG: Record<string, string[]> = {
  PORT: ['x', '-1', '65536', '80.5', '1e3', '0x50', '80 81'],
  PUBLIC: ['2', 'maybe', 'on'],
  DEMO: ['2', 'maybe'],
  BASE_URL: ['shop.example', 'ftp://shop.example', 'https://shop.example/path', 'https://shop.example?x', 'https://shop.example#x', 'https://user@shop.example', 'https://', 'javascript:alert(1)', 'https://a b'],
  APP_URL: ['shop.example', '/pay', 'https://shop.example/pay/'],
  DATABASE_URL: ['mysql://db/till', 'db.example/till', 'postgres:/db', 'postgres://app:pw@one,other:5432/till'],
  STORAGE_URL: ['s3://bucket', '/var/files', 'file:', 'file://', 'file://srv/files', 'file://localhost', 'file://host/srv/files', 'http://files.example', 's3://?region=eu-west-1', 's3://my_bucket?region=eu-west-1', 's3://bucket/below?region=eu-west-1', 's3://bucket?region=eu-west-1&prefix=x', 's3://bucket?region=EU', 's3://bucket?endpoint=minio:9000', 's3://bucket?endpoint=ftp://minio', 's3://id:key@bucket?region=eu-west-1', 's3://bucket?region=eu-west-1&public=https://files.example'],
  UPLOAD_MAX_BYTES: ['0', '-1', '10GB', '1e9', '68719476737'],
  STORAGE_QUOTA_BYTES: ['-1', '10GB', '1.5'],
  STORAGE_QUOTA_UNTRUSTED_BYTES: ['-1', '1GB'],
  STORAGE_RESERVE_BYTES: ['-1', '1GB'],
  SECRET: ['short', `${SECRET},short`, `${SECRET},`, ',', 's'.repeat(31)],
  SMTP_URL: ['mail.example', 'http://mail.example', 'smtp://', 'smtp:///x', 'smtp://mail.example?requireTLS=false', 'smtp://mail.example?tls=none&ignoreTLS=true', 'smtp://mail.example?tls=nein', 'smtps://mail.example?tls=none', 'smtps://mail.example?secure=false'],
  EVENT_RETENTION_DAYS: ['0', '34', '3651', '-90', '90.5', '90d', 'never'],
  OUTBOX_RETENTION_DAYS: ['0', '3651', '-1', '1.5', '30d', 'never'],
  PAYOUTS: ['paypal', 'stripe', 'MANUAL'],
  PAYOUT_HOLD_DAYS: ['-1', '181', '7d', '1.5'],
  PAYOUT_SCHEDULE: ['daily', 'Weekly', '7'],
  PAYOUT_MINIMUM: ['20', 'EUR', '20 eur', '20EUR', '-1 EUR', '1 EUR,2 EUR', '1 XXX', '1.5 JPY', '1.005 EUR', '1 EUR;2 INR', '1 EUR,'],
  METRICS_TOKEN: ['short', 'x'.repeat(31), `${'x'.repeat(40)} y`],
  DEMO_ON_NETWORK: ['2', 'maybe'],
  PROCESSORS: ['sandbox,paypal', 'sandbox,', 'none,sandbox', 'SANDBOX', 'toString', 'sandbox,sandbox'],
  STATEMENT_PREFIX: ['till', 'TI', 'TILLTILLTILL', '12345', 'TÏLL', 'TILL*', '-TILL', "ANN'S"],
  ORDER_TTL_HOURS: ['0', '-1', 'x', '1.5', '24,168,1', '24,', '24,x', '24,0', '9999', '24h'],
  LIMITS: ['on', 'checkout', 'checkout=0/60', 'checkout=1/0', 'checkout=1', 'nothing=1/60', 'toString=1/60', '__proto__=1/60', 'checkout=1/60,', 'checkout=-1/60', 'checkout=1/60;status=1/60'],
  TRUST_PROXY: ['6', '99999999999', 'everybody', 'true', 'yes', '10.0.0.0/33', '10.0.0.0/0', '999.1.1.1', 'bad', '1.2.3.4,', '::1/129', '10.0.0.0/8/8', '10.0.0.0/x'],
  LOG_LEVEL: ['loud', 'INFO', 'info,debug'],
  SIGNUP: ['yes', 'OPEN', 'closed,open', 'toString', '1'],
  OPERATORS: ['ann', 'ann@example', 'ann@example.com,', 'ann@example.com bob@example.com', 'Ann <ann@example.com>', 'ann@example.com;bob@example.com'],
  COOKIE_DOMAIN: ['localhost', 'example', '127.0.0.1', '::1', 'https://shop.example', 'shop.example/', 'shop.example:443', 'shop example', '*.shop.example', 'shop..example', '-shop.example', 'co.uk', '.com.au', 'github.io', 'fly.dev', 'shop.example;x', `${'a.'.repeat(130)}example`],
  MAIL_CONNECTIONS: ['0', '201', 'many', '-1', '1.5'],
  MAIL_FROM: ['nobody', 'Shop', '<>', 'Shop <nobody>', 'a@b, c@d', 'a@b c@d', 'Shop <a@b> x'],
} // oxfmt-ignore
for (const [name, values] of Object.entries(WRONG)) {
  test(`a wrong ${name} stops the start, and is named`, () => {
    for (const value of values) assert.deepEqual(wrong({ [name]: value }), [name], value)
  })
}

test('money for sellers’ own Stripe accounts needs Stripe, and nothing beside it', () => {
  const PAYOUTS = 'stripe-connect'
  const stripe = {
    STRIPE_SECRET_KEY: 'sk_test_a',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_a',
    STRIPE_WEBHOOK_SECRET: 'whsec_a',
  }
  assert.deepEqual(wrong({ PAYOUTS }), ['PAYOUTS'])
  assert.deepEqual(wrong({ PAYOUTS, ...stripe, PROCESSORS: 'stripe,sandbox' }), ['PAYOUTS'])
  assert.equal(readConfig({ SECRET, PAYOUTS, ...stripe }).payouts.by, PAYOUTS)
})

test('money that Razorpay passes on to sellers needs Razorpay, nothing beside it, and time for its tries', () => {
  const PAYOUTS = 'razorpay-route'
  const razorpay = {
    RAZORPAY_KEY_ID: 'rzp_test_a',
    RAZORPAY_KEY_SECRET: 'secret',
    RAZORPAY_WEBHOOK_SECRET: 'webhook secret',
  }
  assert.deepEqual(wrong({ PAYOUTS }), ['PAYOUTS'])
  assert.deepEqual(wrong({ PAYOUTS, ...razorpay, PROCESSORS: 'razorpay,sandbox' }), ['PAYOUTS'])
  assert.deepEqual(wrong({ PAYOUTS, ...razorpay, PAYOUT_HOLD_DAYS: '4' }), ['PAYOUT_HOLD_DAYS'])
  assert.equal(readConfig({ SECRET, PAYOUTS, ...razorpay, PAYOUT_HOLD_DAYS: '5' }).payouts.by, PAYOUTS)
})

test('an account to pay from that is wrong, or is named by a part alone, stops the start', () => {
  const WRONG_PAYERS = {
    PAYOUT_FROM_NAME: ['x'.repeat(71), 'Till\tGmbH'],
    PAYOUT_FROM_IBAN: ['DE89370400440532013001', 'TR330006100519786457841326', 'DE', '💥'],
    PAYOUT_FROM_BIC: ['COBA', 'COBADEFFXXXX'],
  }
  for (const [name, values] of Object.entries(WRONG_PAYERS))
    for (const value of values) assert.deepEqual(wrong({ ...PAYER, [name]: value }), [name], value)
  const { PAYOUT_FROM_NAME, PAYOUT_FROM_IBAN } = PAYER
  assert.deepEqual(wrong({ PAYOUT_FROM_NAME }), ['PAYOUT_FROM_IBAN'])
  assert.deepEqual(wrong({ PAYOUT_FROM_IBAN }), ['PAYOUT_FROM_NAME'])
  assert.deepEqual(wrong({ PAYOUT_FROM_BIC: 'COBADEFFXXX' }), ['PAYOUT_FROM_IBAN'])
  assert.equal(readConfig({ SECRET }).payouts.from, undefined)
})

test('a wrong IDP_AUTH_METHOD stops the start, and is named', () => {
  for (const value of ['none', 'basic', 'client_secret_jwt', 'toString'])
    assert.deepEqual(wrong({ ...IDP, IDP_AUTH_METHOD: value }), ['IDP_AUTH_METHOD'], value)
})

test('a wrong IDP_ISSUER stops the start, and is named', () => {
  const values = [
    'idp.example', 'http://idp.example', 'http://localhost.evil.example', 'http://10.0.0.1', 'ftp://idp.example', 'https://idp.example?x=1', 'https://idp.example#x', 'https://user:pw@idp.example',
    'javascript:alert(1)', `https://idp.example/${'x'.repeat(500)}`, 'https://',
  ] // oxfmt-ignore
  for (const value of values) assert.deepEqual(wrong({ ...IDP, IDP_ISSUER: value }), ['IDP_ISSUER'], value)
})

test('all that is wrong is named at once', () => {
  assert.deepEqual(wrong({ PORT: 'x', LOG_LEVEL: 'loud', PUBLIC: 'maybe' }), ['PUBLIC', 'PORT', 'LOG_LEVEL'])
})

test('an empty setting counts as not set', () => {
  const config = readConfig({ SECRET, PORT: '', LOG_LEVEL: ' ', PUBLIC: '', LIMITS: '\n', SMTP_URL: '' })
  assert.deepEqual([config.port, config.logLevel, config.isPublic, config.smtpUrl], [4000, 'info', false, undefined])
})

test('a public service does not run on the defaults of a developer’s machine', () => {
  const config = readConfig(PUBLIC)
  assert.deepEqual([config.isPublic, config.host, config.demo, config.processors], [true, '0.0.0.0', false, []])
  for (const name of ['BASE_URL', 'APP_URL', 'SECRET', 'SMTP_URL', 'MAIL_FROM', 'PROCESSORS', 'TRUST_PROXY'] as const)
    assert.deepEqual(wrong({ ...PUBLIC, [name]: '' }), [name])
  for (const name of ['BASE_URL', 'APP_URL'])
    assert.deepEqual(wrong({ ...PUBLIC, [name]: 'http://shop.example' }), [name])
  assert.deepEqual(wrong({ ...PUBLIC, LIMITS: 'off' }), ['LIMITS'])
  assert.deepEqual(wrong({ ...PUBLIC, LIMITS: 'checkout=1000/60' }), [])
  assert.deepEqual(wrong({ PUBLIC: '1', SECRET: '' }), [
    'BASE_URL',
    'APP_URL',
    'SECRET',
    'SMTP_URL',
    'MAIL_FROM',
    'PROCESSORS',
    'TRUST_PROXY',
  ])
  assert.deepEqual(
    readConfig({ ...PUBLIC, PROCESSORS: 'sandbox', HOST: '10.0.0.1' }).processors,
    ['sandbox'],
    'asked for by name',
  )
})

test('a public service sells the demo’s products only in a sandbox that was asked for by name', () => {
  for (const processors of [{ PROCESSORS: 'none' }, { ...STRIPE, PROCESSORS: 'stripe' }, { ...LIVE, PROCESSORS: '' }])
    assert.deepEqual(wrong({ ...PUBLIC, ...processors, DEMO: '1' }), ['DEMO'])
  assert.equal(readConfig({ ...PUBLIC, PROCESSORS: 'sandbox', DEMO: '1' }).demo, true)
  assert.deepEqual(wrong({ ...PUBLIC, ...LIVE, PROCESSORS: 'sandbox,stripe', DEMO: '1' }), ['PROCESSORS'])
  assert.deepEqual(wrong({ ...PUBLIC, PROCESSORS: '', DEMO: '1' }), ['PROCESSORS'])
})

const LIVE = { ...STRIPE, STRIPE_SECRET_KEY: 'sk_live_51Secret', STRIPE_PUBLISHABLE_KEY: 'pk_live_51Public' }

test('without PUBLIC=1 only this machine reaches the service, and no real money moves', () => {
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'till.example', '128.0.0.1', '127.evil.example', '0'])
    assert.deepEqual(wrong({ HOST: host }), ['HOST'], host)
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) assert.deepEqual(wrong({ HOST: host }), [], host)
  for (const name of ['BASE_URL', 'APP_URL']) {
    for (const url of [
      'https://shop.example',
      'https://localhost',
      'http://shop.example',
      'http://10.0.0.1:4000',
      'http://localhost.example',
    ])
      assert.deepEqual(wrong({ [name]: url }), [name], url)
    for (const url of ['http://localhost:4000', 'http://127.0.0.1', 'http://[::1]:4000', 'http://pay.localhost:4000'])
      assert.deepEqual(wrong({ [name]: url }), [], url)
  }
  const restricted = { ...LIVE, STRIPE_SECRET_KEY: 'rk_live_51Secret' }
  for (const keys of [LIVE, restricted, { ...LIVE, PROCESSORS: 'none' }])
    assert.deepEqual(wrong(keys), ['STRIPE_SECRET_KEY'])
  assert.deepEqual(wrong({ ...RAZORPAY, RAZORPAY_KEY_ID: 'rzp_live_1DP5mm' }), ['RAZORPAY_KEY_ID'])
  assert.deepEqual(wrong({ HOST: '0.0.0.0', BASE_URL: 'https://shop.example', ...LIVE }), [
    'HOST',
    'BASE_URL',
    'STRIPE_SECRET_KEY',
  ])
  assert.deepEqual(wrong({ ...PUBLIC, ...LIVE, PROCESSORS: '' }), [])
})

test('a demo on a network may listen there, and is still no shop', () => {
  const demo = { DEMO_ON_NETWORK: '1' }
  const { host, demoOnNetwork, isPublic } = readConfig({ SECRET, ...demo })
  assert.deepEqual([host, demoOnNetwork, isPublic], ['0.0.0.0', true, false])
  // strangers sign in there, and must not reach this machine by a webhook
  const reach = (more: object) => readConfig({ SECRET, ...more }).webhookReach
  assert.deepEqual(
    [reach({}), reach(demo), reach({ ...demo, WEBHOOK_PRIVATE_NETWORKS: '1' })],
    ['loopback', 'public', 'any'],
  )
  assert.deepEqual(
    wrong({ ...demo, HOST: '10.0.0.1', BASE_URL: 'http://10.0.0.1:4000', APP_URL: 'http://laptop.local:4000' }),
    [],
  )
  assert.deepEqual(wrong({ ...demo, BASE_URL: 'https://shop.example' }), ['BASE_URL'])
  assert.deepEqual(wrong({ ...demo, ...LIVE }), ['STRIPE_SECRET_KEY'])
  assert.deepEqual(wrong({ ...PUBLIC, ...demo }), ['DEMO_ON_NETWORK'])
})

test('the sandbox never serves beside live keys', () => {
  assert.deepEqual(wrong({ ...PUBLIC, ...STRIPE, PROCESSORS: 'stripe,sandbox' }), [])
  assert.deepEqual(wrong({ ...PUBLIC, ...LIVE, PROCESSORS: 'stripe,sandbox' }), ['PROCESSORS'])
  assert.deepEqual(wrong({ ...PUBLIC, ...LIVE, PROCESSORS: 'sandbox' }), ['PROCESSORS'])
})

test('a public service names its proxies', () => {
  for (const TRUST_PROXY of ['1', '10.0.0.0/8', 'none', 'loopback'])
    assert.deepEqual(wrong({ ...PUBLIC, TRUST_PROXY }), [])
  assert.deepEqual(wrong({ ...PUBLIC, TRUST_PROXY: 'true' }), ['TRUST_PROXY'])
})

test('processors with keys serve, in the order of PROCESSORS; without keys the sandbox does', () => {
  const served = (env: Record<string, string>) => readConfig({ SECRET, ...env }).processors
  assert.deepEqual(served({}), ['sandbox'])
  assert.deepEqual(served(STRIPE), ['stripe'])
  assert.deepEqual(served({ ...STRIPE, ...RAZORPAY }), ['stripe', 'razorpay'])
  assert.deepEqual(served({ ...STRIPE, ...RAZORPAY, PROCESSORS: 'razorpay, stripe' }), ['razorpay', 'stripe'])
  const off = readConfig({ SECRET, ...STRIPE, PROCESSORS: 'none' })
  assert.deepEqual([off.processors, off.stripe], [[], undefined])
})

test('a processor’s settings are read', () => {
  const { stripe, razorpay } = readConfig({
    SECRET,
    ...STRIPE,
    STRIPE_WEBHOOK_SECRET: 'whsec_new, whsec_old',
    STRIPE_PAYMENT_METHOD_TYPES: 'card, us_bank_account',
    STRIPE_API_URL: 'http://127.0.0.1:12111',
    ...RAZORPAY,
  })
  assert.deepEqual(stripe, {
    secretKey: STRIPE.STRIPE_SECRET_KEY,
    publishableKey: STRIPE.STRIPE_PUBLISHABLE_KEY,
    webhookSecrets: ['whsec_new', 'whsec_old'],
    apiUrl: 'http://127.0.0.1:12111',
    paymentMethodTypes: ['card', 'us_bank_account'],
  })
  assert.deepEqual(razorpay, {
    keyId: RAZORPAY.RAZORPAY_KEY_ID,
    keySecret: RAZORPAY.RAZORPAY_KEY_SECRET,
    webhookSecrets: [RAZORPAY.RAZORPAY_WEBHOOK_SECRET],
    apiUrl: undefined,
  })
})

test('a processor that serves has all of its keys, and they belong together', () => {
  for (const keys of [STRIPE, RAZORPAY])
    for (const name of Object.keys(keys)) assert.deepEqual(wrong({ ...keys, [name]: '' }), [name])
  assert.deepEqual(wrong({ PROCESSORS: 'stripe' }), Object.keys(STRIPE))
  assert.deepEqual(wrong({ PROCESSORS: 'razorpay' }), Object.keys(RAZORPAY))
  assert.deepEqual(wrong({ ...STRIPE, STRIPE_SECRET_KEY: 'sk_live_x' }), [
    'STRIPE_PUBLISHABLE_KEY',
    'STRIPE_SECRET_KEY',
  ])
  for (const [name, values] of Object.entries({
    STRIPE_SECRET_KEY: ['pk_test_x', 'sk_test_', 'key', 'sk_test_x y'],
    STRIPE_PUBLISHABLE_KEY: ['sk_test_x', 'x'],
    STRIPE_WEBHOOK_SECRET: ['secret', 'whsec_', 'whsec_a,', 'whsec_a b'],
    STRIPE_API_URL: ['api.stripe.test', 'https://api.stripe.test/v1', 'ftp://x'],
    STRIPE_PAYMENT_METHOD_TYPES: ['Card', 'card,', 'card;link'],
  }))
    for (const value of values) assert.deepEqual(wrong({ ...STRIPE, [name]: value }), [name], value)
  for (const [name, values] of Object.entries({
    RAZORPAY_KEY_ID: ['rzp_x', 'key_test_x'],
    RAZORPAY_WEBHOOK_SECRET: ['short', 'long enough,'],
    RAZORPAY_API_URL: ['x'],
  }))
    for (const value of values) assert.deepEqual(wrong({ ...RAZORPAY, [name]: value }), [name], value)
  const open = { ...PUBLIC, ...STRIPE, PROCESSORS: '' }
  assert.deepEqual(wrong(open), [], 'keys are enough where real users reach it')
  assert.deepEqual(wrong({ ...open, STRIPE_API_URL: 'http://127.0.0.1:1' }), ['STRIPE_API_URL'], 'keys travel by TLS')
})

test('every setting can be read from a file', async (t) => {
  const folder = await temporaryFolder(t)
  const file = (name: string, text: string) => {
    fs.writeFileSync(path.join(folder, name), text)
    return path.join(folder, name)
  }
  const config = readConfig({
    SECRET_FILE: file('secret', `${SECRET},${OTHER_SECRET}\n`),
    DATABASE_URL_FILE: file('database', 'postgres://app:pw@db/till\n'),
    SMTP_URL_FILE: file('smtp', '  smtp://user:pw@mail:587  '),
    PORT_FILE: file('port', '4321'),
    PORT: '',
    MAIL_FROM: 'a@b.example',
    ...IDP,
    IDP_CLIENT_SECRET: '',
    IDP_CLIENT_SECRET_FILE: file('idp', 'from the provider\n'),
  })
  assert.deepEqual(config.secrets, [SECRET, OTHER_SECRET])
  assert.deepEqual(
    [config.databaseUrl, config.smtpUrl, config.port, config.logLevel],
    ['postgres://app:pw@db/till', 'smtp://user:pw@mail:587', 4321, 'info'],
  )
  assert.equal(config.idp?.clientSecret, 'from the provider')
  assert.deepEqual(wrong({ SECRET: '', SECRET_FILE: path.join(folder, 'missing') }), ['SECRET_FILE'])
  assert.deepEqual(wrong({ DATABASE_URL_FILE: folder }), ['DATABASE_URL_FILE'])
  const empty = file('empty', '\n')
  for (const name of ['DATABASE_URL', 'BACKUP_URL', 'LOG_LEVEL'])
    assert.deepEqual(wrong({ [`${name}_FILE`]: empty }), [`${name}_FILE`], 'a value was meant')
  assert.deepEqual(wrong({ BACKUP_KEY: SECRET, BACKUP_URL: '' }), ['BACKUP_URL'], 'a backup was meant')
  const keys = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'key' }
  assert.deepEqual(wrong({ SECRET, ...keys, BACKUP_URL: 'none' }), [], 'the keys stay while there are no backups')
  assert.deepEqual(wrong({ PORT_FILE: file('bad', 'x') }), ['PORT'])
  assert.deepEqual(wrong({ ...PUBLIC, MAIL_FROM: '', MAIL_FROM_FILE: file('from', 'a@b.example') }), [])
})

test('a service without a secret makes one, stores it, and keeps it readable only for itself', async (t) => {
  const dataDir = path.join(await temporaryFolder(t), 'new', 'data')
  const first = readConfig({ DATA_DIR: dataDir })
  assert.match(first.secrets[0]!, /^[\w-]{43}$/)
  assert.deepEqual(readConfig({ DATA_DIR: dataDir }).secrets, first.secrets)
  assert.equal(fs.statSync(path.join(dataDir, 'secret')).mode & 0o077, 0)
  assert.notDeepEqual(readConfig({ DATA_DIR: await temporaryFolder(t) }).secrets, first.secrets)
  fs.writeFileSync(path.join(dataDir, 'secret'), 'cut off')
  assert.throws(() => readConfig({ DATA_DIR: dataDir }), /SECRET: .*secret is damaged/)
})

function start(env: Record<string, string>) {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  return spawnSync(process.execPath, [main], {
    env: { ...bareEnvironment(), ...env },
    encoding: 'utf8',
    timeout: 300_000,
  })
}

test('a start with a wrong setting ends at once, says which, and touches nothing', async (t) => {
  const dataDir = path.join(await temporaryFolder(t), 'data')
  const { status, stdout, stderr } = start({ DATA_DIR: dataDir, PORT: 'x', LIMITS: 'everything' })
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.match(
    stderr,
    /^The settings are not right:\n {2}PORT: expected a port number\n {2}LIMITS: expected off, or a list .*\n$/,
  )
  assert(!fs.existsSync(dataDir))
})

test('beside a restore that is not complete nothing starts and nothing is made; one that is moved into its place starts', async (t) => {
  const dataDir = await temporaryFolder(t)
  const unfinished = path.join(dataDir, 'restoring')
  fs.mkdirSync(unfinished)
  const env = { DATA_DIR: dataDir }
  assert.throws(() => readConfig(env), /DATA_DIR: a restore works in \S+restoring, or was cut off: wait for its end, or remove/) // oxfmt-ignore
  assert.deepEqual(fs.readdirSync(dataDir), ['restoring'])
  fs.mkdirSync(path.join(dataDir, 'postgres'))
  assert.equal(readConfig(env).dataDir, dataDir)
})
