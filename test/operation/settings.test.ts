import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config.ts'
import { openVault } from '../../src/kit/vault/vault.ts'
import { temporaryFolder } from '../support/shop.ts'

// The names of the settings: a misspelt one, one without its partner, and the list of all of them.

const SECRET = 's'.repeat(32)
const STRIPE = { STRIPE_SECRET_KEY: 'sk_test_51Secret', STRIPE_PUBLISHABLE_KEY: 'pk_test_51Public', STRIPE_WEBHOOK_SECRET: 'whsec_signs' } // oxfmt-ignore
const RAZORPAY = { RAZORPAY_KEY_ID: 'rzp_test_1DP5mm', RAZORPAY_KEY_SECRET: 'a secret', RAZORPAY_WEBHOOK_SECRET: 'a secret that signs' } // oxfmt-ignore
const PUBLIC = {
  PUBLIC: '1',
  BASE_URL: 'https://api.shop.example',
  APP_URL: 'https://shop.example',
  SMTP_URL: 'smtps://shop:password@mail.example',
  MAIL_FROM: 'The shop <shop@shop.example>',
  TRUST_PROXY: '1',
}

/** The problems with these settings, one a line. */
function problems(env: Record<string, string>): string[] {
  try {
    readConfig({ SECRET, ...env })
    return []
  } catch (error) {
    assert(error instanceof ConfigError)
    return error.message.split('\n').slice(1).map((line) => line.trim()) // oxfmt-ignore
  }
}

test('a misspelt setting is refused with the nearest name, and without its value', () => {
  const misspelt = {
    SMPT_URL: 'SMTP_URL', SMTP_ULR: 'SMTP_URL', STMP_URL: 'SMTP_URL', SMTP_URL_FIEL: 'SMTP_URL_FILE', SMTP_HOST: 'SMTP_URL', SMTP_PASSWORD: 'SMTP_URL',
    SECERT: 'SECRET', SECRETS: 'SECRET', SECRET_FILES: 'SECRET_FILE', PUBILC: 'PUBLIC', SINGUP: 'SIGNUP', LIMIT: 'LIMITS',
    DATABSE_URL: 'DATABASE_URL', DATABASE_URI: 'DATABASE_URL', STORAGEURL: 'STORAGE_URL', COOKIE_DOMIAN: 'COOKIE_DOMAIN', TRUSTED_PROXY: 'TRUST_PROXY', TRUST_PROXYS: 'TRUST_PROXY',
    STRIPE_SECRET: 'STRIPE_SECRET_KEY', STRIPE_WEBHOOK_SECERT: 'STRIPE_WEBHOOK_SECRET', RAZORPAY_SECRET: 'RAZORPAY_KEY_SECRET', IDP_CLIENTID: 'IDP_CLIENT_ID',
    S3_ACCESS_KEY: 'S3_ACCESS_KEY_ID', S3_SECRET_KEY: 'S3_SECRET_ACCESS_KEY', ORDER_TTL_HOUR: 'ORDER_TTL_HOURS', METRIC_TOKEN: 'METRICS_TOKEN', smtp_url: 'SMTP_URL', Database_Url: 'DATABASE_URL',
  } // oxfmt-ignore
  for (const name of Object.keys(misspelt)) {
    const [problem = '', ...more] = problems({ [name]: 'a value nobody should see' })
    assert.match(problem, new RegExp(`^${name}: there is no such setting; [A-Z0-9_]+ is the nearest`), name)
    assert.deepEqual(more, [], name)
    assert.doesNotMatch(problem, /nobody should see/)
  }
  const nearest = Object.keys(misspelt).map((name) => [name, / (\w+) is the nearest/.exec(problems({ [name]: 'x' })[0]!)?.[1]]) // oxfmt-ignore
  assert.deepEqual(Object.fromEntries(nearest), misspelt)
  assert.deepEqual(problems({ SMPT_URL: ' ', SMTP_HOST: '' }), [], 'an empty one counts as not set')
})

test('a variable of another program stops no start', () => {
  const others = [
    'PATH HOME USER LOGNAME SHELL LANG LC_ALL TERM TZ PWD OLDPWD SHLVL HOSTNAME HOSTS EDITOR PAGER DISPLAY MAIL MAILPATH MAILCHECK TMPDIR TMP TEMP UID HISTFILE LS_COLORS _ SSH_AUTH_SOCK SSH_CONNECTION SUDO_USER DBUS_SESSION_BUS_ADDRESS',
    'INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET CREDENTIALS_DIRECTORY STATE_DIRECTORY RUNTIME_DIRECTORY LOGS_DIRECTORY SYSTEMD_EXEC_PID MEMORY_PRESSURE_WATCH LISTEN_FDS MAINPID',
    'NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_COMPILE_CACHE NODE_PATH NODE_VERSION YARN_VERSION INIT_CWD COLOR npm_config_cache npm_package_name npm_lifecycle_event npm_execpath npm_config_user_agent UV_THREADPOOL_SIZE NO_COLOR FORCE_COLOR CI DEBUG',
    'http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR LD_PRELOAD MALLOC_ARENA_MAX',
    'KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_ADDR TILL_SERVICE_HOST TILL_SERVICE_PORT SMTP_SERVICE_HOST SMTP_SERVICE_PORT_SMTP SMTP_PORT_25_TCP_PROTO STRIPE_SERVICE_HOST POD_NAME POD_IP NODE_NAME container',
    'DOKKU_APP_NAME DOKKU_APP_TYPE DOKKU_PROXY_PORT GIT_REV COOLIFY_URL COOLIFY_FQDN COOLIFY_BRANCH COOLIFY_RESOURCE_UUID COOLIFY_CONTAINER_NAME SERVICE_URL_TILL SERVICE_FQDN_TILL SOURCE_COMMIT CAPROVER_GIT_COMMIT_SHA',
    'DYNO HEROKU_APP_NAME HEROKU_SLUG_COMMIT HEROKU_POSTGRESQL_BLUE_URL DATABASE_CONNECTION_POOL_URL FLY_APP_NAME FLY_REGION FLY_PUBLIC_IP FLY_PRIVATE_IP PRIMARY_REGION RAILWAY_PUBLIC_DOMAIN RAILWAY_PRIVATE_DOMAIN RAILWAY_ENVIRONMENT DATABASE_PUBLIC_URL RENDER_EXTERNAL_URL RENDER_SERVICE_ID IS_PULL_REQUEST',
    'AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 BUCKET_NAME GOOGLE_APPLICATION_CREDENTIALS K_SERVICE K_REVISION ECS_CONTAINER_METADATA_URI_V4 WEBSITE_HOSTNAME WEBSITES_PORT',
    'PGHOST PGUSER PGPASSWORD PGDATABASE PGPORT POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB POSTGRES_URL REDIS_URL MYSQL_URL SENTRY_DSN OTEL_EXPORTER_OTLP_ENDPOINT DD_AGENT_HOST LOG_FORMAT API_URL STRIPE_API_KEY STRIPE_DEVICE_NAME',
  ].flatMap((line) => line.split(' ')) // oxfmt-ignore
  assert.deepEqual(problems(Object.fromEntries(others.map((name) => [name, 'a value']))), [])
  assert.deepEqual(problems({ SMTP_PORT: 'tcp://10.0.0.1:25', STRIPE_PORT: 'tcp://10.0.0.1:443' }), [], 'a cluster')
  assert.equal(problems({ SMTP_PORT: '587' }).length, 1, 'an operator')
})

test('a backup has a place and a key that do not go down with this machine', () => {
  const key = { BACKUP_KEY: 'k'.repeat(32) }
  assert.deepEqual(problems({ BACKUP_URL: 'file:/mnt/backup', ...key }), [])
  assert.deepEqual(problems({ BACKUP_URL: 's3://till-backups?region=eu-central-1', ...key }), [])
  // backups that have ended: the keys of the earlier ones stay
  const keys = { BACKUP_S3_ACCESS_KEY_ID: 'id', BACKUP_S3_SECRET_ACCESS_KEY: 'key' }
  assert.deepEqual(problems({ BACKUP_URL: 'none', ...key, ...keys }), [])
  assert.equal(readConfig({ SECRET, BACKUP_URL: 'none' }).backupIsOff, true)
  for (const [env, says] of [
    [{ BACKUP_URL: 'file:/mnt/backup', SECRET: '' }, /^BACKUP_KEY: required \(or SECRET\)/],
    [{ BACKUP_URL: 'file:/mnt/backup', BACKUP_KEY: 'short' }, /^BACKUP_KEY: expected at least 32/],
    [{ BACKUP_URL: 'ftp://x', ...key }, /^BACKUP_URL: expected file:/],
    [{ BACKUP_URL: 'file:/data/backup', DATA_DIR: '/data', ...key }, /^BACKUP_URL: a folder inside of DATA_DIR/],
    [
      { BACKUP_URL: 'file:/mnt/backup', DATABASE_URL: 'postgres://db.example/till', ...key },
      /^BACKUP_URL: only for the embedded/,
    ],
    [
      { BACKUP_URL: 's3://till-backups?endpoint=https://s3.example', ...key },
      /^BACKUP_S3_ACCESS_KEY_ID: required for this BACKUP_URL/,
    ],
    [{ BACKUP_S3_ACCESS_KEY_ID: 'id' }, /^BACKUP_S3_ACCESS_KEY_ID: of no use without BACKUP_URL/],
  ] as [Record<string, string>, RegExp][])
    assert.match(problems(env)[0] ?? '', says)
})

test('a backup does not lie among the files that it is for', () => {
  const s3 = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'key' }
  const found = (STORAGE_URL: string, BACKUP_URL: string, DATA_DIR = '/data') =>
    problems({ STORAGE_URL, BACKUP_URL, DATA_DIR, ...(BACKUP_URL.startsWith('s3') && s3) })
  const at = (host: string, more = '') => `endpoint=${encodeURIComponent(host)}${more}`
  for (const [files, backup] of [
    ['file:/srv/files', 'file:/srv/files'],
    ['file:/srv/files', 'file:/srv/other/../files/'],
    ['file:/srv/files', 'file:/srv/files/backup'],
    ['file:/srv/backup/files', 'file:/srv/backup'],
    ['file:/srv/files', 'file:/'],
    // without STORAGE_URL the files are in DATA_DIR
    ['', 'file:/'],
    ['s3://till?region=eu-central-1', 's3://till?region=eu-central-1'],
    ['s3://till?region=eu-central-1', 's3://till?region=us-east-1'],
    ['s3://till?region=eu-central-1', `s3://till?${at('https://s3.eu-central-1.amazonaws.com')}`],
    [`s3://till?${at('https://s3.example')}`, `s3://till?${at('https://S3.example/', '&region=eu')}`],
    [`s3://till?${at('http://minio:9000', '&public=https://s3.example')}`, `s3://till?${at('https://s3.example')}`],
  ] as const)
    assert.match(found(files, backup).join('\n'), /^BACKUP_URL: .* of its own$/, `${files} ${backup}`)
  for (const [files, backup] of [
    ['file:/srv/files', 'file:/srv/files-backup'],
    ['file:/srv/files', 'file:/srv/..backup'],
    ['', 'file:/mnt/backup'],
    ['s3://till-files?region=eu-central-1', 's3://till-backups?region=eu-central-1'],
    [`s3://till?${at('https://s3.example')}`, `s3://till?${at('https://s3.elsewhere.example')}`],
    [`s3://till?${at('https://s3.example')}`, 's3://till?region=eu-central-1'],
    ['file:/srv/files', 's3://till?region=eu-central-1'],
  ] as const)
    assert.deepEqual(found(files, backup).filter((one) => /BACKUP_URL/.test(one)), [], `${files} ${backup}`) // oxfmt-ignore
})

test('settings that only make sense together are checked together', async (t) => {
  const alone: Record<string, string>[] = [
    { SMTP_URL: 'smtp://a:b@mail.example:587' }, { S3_ACCESS_KEY_ID: 'id' }, { S3_SECRET_ACCESS_KEY: 'key', STORAGE_URL: 'file:/a' },
    { STRIPE_PAYMENT_METHOD_TYPES: 'card' }, { STRIPE_API_URL: 'http://127.0.0.1:1' }, { RAZORPAY_API_URL: 'http://127.0.0.1:1' },
    { VIES_URL: 'http://vies.example' }, { VIES_URL: 'ec.europa.eu' }, { VIES_URL: 'https://a@vies.example/?x' }, { COUNTRY_HEADER: 'cf-ipcountry' }, { COUNTRY_HEADER: 'cf-ipcountry', TRUST_PROXY: 'none' },
    { ...PUBLIC, ...STRIPE, ...RAZORPAY, RAZORPAY_KEY_ID: 'rzp_live_1DP5mm' },
  ] // oxfmt-ignore
  assert.deepEqual(
    alone.map((env) => problems(env).map((problem) => problem.split(':')[0])),
    [
      ['MAIL_FROM'], ['S3_ACCESS_KEY_ID'], ['S3_SECRET_ACCESS_KEY'],
      ['STRIPE_SECRET_KEY'], ['STRIPE_SECRET_KEY'], ['RAZORPAY_KEY_ID'],
      ['VIES_URL'], ['VIES_URL'], ['VIES_URL'], ['TRUST_PROXY'], ['TRUST_PROXY'],
      ['RAZORPAY_KEY_ID'],
    ], // oxfmt-ignore
  )
  const together: Record<string, string>[] = [
    { SMTP_URL: 'smtp://127.0.0.1:2525' },
    { SMTP_URL: 'smtp://a:b@mail.example:587', MAIL_FROM: 'a@b.example' },
    { ...STRIPE, STRIPE_PAYMENT_METHOD_TYPES: 'card', STRIPE_API_URL: 'http://127.0.0.1:1' },
    { ...PUBLIC, ...STRIPE, ...RAZORPAY },
    { COUNTRY_HEADER: 'CF-IPCountry', TRUST_PROXY: 'loopback' },
    { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'key', BACKUP_URL: 's3://backups?region=eu-central-1' },
    // the keys stay while the processor is off
    { ...PUBLIC, ...STRIPE, ...RAZORPAY, RAZORPAY_KEY_ID: 'rzp_live_1DP5mm', PROCESSORS: 'razorpay' },
  ]
  for (const env of together) assert.deepEqual(problems(env), [], JSON.stringify(env))

  const file = path.join(await temporaryFolder(t), 'port')
  fs.writeFileSync(file, '4321')
  assert.deepEqual(problems({ PORT: '4000', PORT_FILE: file }), ['PORT: set here and by PORT_FILE; keep one of them'])
  assert.equal(readConfig({ SECRET, PORT: '', PORT_FILE: file }).port, 4321)
})

/** Each setting that the service asks the environment for. */
function settingsOfService(): string[] {
  const names = new Set<string>()
  const env = new Proxy<Record<string, string>>(
    { SECRET },
    {
      get(target, name: string) {
        if (name.endsWith('_FILE')) names.add(name.slice(0, -'_FILE'.length))
        return target[name]
      },
    },
  )
  readConfig(env)
  return [...names].sort()
}

test('.env.example and docs/settings.md have every setting, and no other', () => {
  const names = settingsOfService()
  assert(names.length > 40, 'the service asks for its settings by name')
  const example = exampleSettings()
  const inTable = [...read('docs/settings.md').matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name]) => name!)) // oxfmt-ignore
  const instructions = {
    '.env.example': 'add a comment line and `#NAME=value` in the right section of .env.example',
    'docs/settings.md': 'add a row `| `NAME` | default | what it is |` to the table of docs/settings.md',
  }
  for (const [file, listed] of [
    ['.env.example', example.map(([name]) => name)],
    ['docs/settings.md', inTable],
  ] as const) {
    const missing = names.filter((name) => !listed.includes(name))
    assert.deepEqual(missing, [], `${file} lacks ${missing.join(', ')}: ${instructions[file]}`)
    const unknown = listed.filter((name) => !names.includes(name))
    assert.deepEqual(unknown, [], `${file} has ${unknown.join(', ')}, which the service does not read: take it out`)
    assert.equal(new Set(listed).size, listed.length, `${file} names each setting once`)
  }
})

test('.env.example is a public service when each line is taken in, and has a comment for each setting', () => {
  const example = exampleSettings().map(([name, value]) => [name, OWN[name] ?? value] as const)
  // a server of one's own has its own backups
  for (const other of [/^BACKUP_/, /^(?:DATABASE_URL|DRILL_RESTORE_COMMAND)$/]) {
    const found = problems({ SECRET: '', ...Object.fromEntries(example.filter(([name]) => !other.test(name))) })
    assert.deepEqual(found, [], 'a value in .env.example is refused: make it one that fits the other lines')
  }
  for (const block of read('.env.example')
    .split(/\n{2,}/)
    .filter((one) => /^#[A-Z]/m.test(one)))
    assert.match(block, /^# /, `a comment before: ${block}`)
  assert.doesNotMatch(read('.env.example'), /^[^#\n]/m, 'as it is, it sets nothing')
})

test('a secret of .env.example that everybody can read is refused as it is', () => {
  const example = Object.fromEntries(exampleSettings().filter(([name]) => name !== 'DATABASE_URL'))
  const refused = (more = {}) => problems({ ...example, ...more }).flatMap((one) => /^(\w+): .*at least 32/.exec(one)?.[1] ?? []) // oxfmt-ignore
  assert.deepEqual(refused().sort(), Object.keys(OWN).sort())
  assert.deepEqual(refused(OWN), [])
})

test('backups that SECRET encrypted are read by a BACKUP_KEY that goes on with the whole SECRET, and by no other', async (t) => {
  const vaultWith = (env: Record<string, string>) => {
    const { place, keys } = readConfig(env).backup!
    return openVault(place, keys)
  }
  const key = 'b'.repeat(40)
  for (const secret of [SECRET, `${'t'.repeat(40)}, ${SECRET}`]) {
    const env = { SECRET: secret, BACKUP_URL: `file:${await temporaryFolder(t)}` }
    // what the second of a list wrote came before the list
    for (const [name, writer] of [
      ['first', secret],
      ['last', SECRET],
    ] as const)
      // oxfmt-ignore
      await vaultWith({ ...env, SECRET: writer }).putJson(name, { name })
    for (const name of ['first', 'last']) {
      assert.deepEqual(await vaultWith({ ...env, BACKUP_KEY: `${key},${secret}` }).readJson(name), { name })
      await assert.rejects(vaultWith({ ...env, BACKUP_KEY: key }).readJson(name), /was written with another key/)
    }
  }
})

/** The secrets that each service makes for itself. */
const OWN: Record<string, string> = Object.fromEntries(
  ['BACKUP_KEY', 'METRICS_TOKEN', 'SECRET'].map((name) => [name, 'e'.repeat(64)]),
)

const read = (file: string) => fs.readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8')

/** The settings of .env.example, all of which are commented out. */
const exampleSettings = () =>
  [...read('.env.example').matchAll(/^#([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const) // oxfmt-ignore
