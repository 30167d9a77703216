import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBackup } from './config/backup.ts'
import { readIdentityProvider } from './config/identity-provider.ts'
import { LIMITS } from './config/limits.ts'
import { problemsOfNames } from './config/misspelt.ts'
import { readPayouts } from './config/payouts.ts'
import { readProcessors } from './config/processors.ts'
import { problemsOfKeys, problemsOfPrivate, problemsOfPublic } from './config/public.ts'
import { type Environment, newReader } from './config/reader.ts'
import { readRetention } from './config/retention.ts'
import { readStorage } from './config/storage.ts'
import type { Config } from './config/shape.ts'
import { problemsOfParts } from './config/together.ts'
import { CannotStart } from './kit/cannot-start.ts'
import { headerName } from './kit/country.ts'
import { DEADLINES } from './kit/deadlines.ts'
import { storedSecret } from './kit/stored-secret.ts'
import { UNFINISHED } from './kit/unfinished-restore.ts'
import {
  cookieDomain,
  limitList,
  mailboxList,
  oneOf,
  origin,
  secretList,
  sender,
  smtpAddress,
  trustedProxy,
  whole,
  yesOrNo,
} from './config/parsers.ts'

export type { Config }
export { warningsOf } from './config/warnings.ts'

/** Less than the 80 GB that S3 accepts in parts of our size. */
const LARGEST_FILE = 64 * 1024 ** 3

/** Names all wrong settings. The service does not start with a guess. */
export class ConfigError extends CannotStart {
  constructor(problems: readonly string[]) {
    super(`The settings are not right:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

/** Reads the environment once. Every setting can also come from a file, `NAME_FILE`. Throws a ConfigError that names wrong settings. */
export function readConfig(env: Environment = process.env): Config {
  const reader = newReader(env)
  const { text, checked, problems } = reader
  const isPublic = checked('PUBLIC', false, yesOrNo, '1 or 0')
  const demoOnNetwork = checked('DEMO_ON_NETWORK', false, yesOrNo, '1 or 0')
  const dataDir = path.resolve(text('DATA_DIR') ?? fileURLToPath(new URL('../data', import.meta.url)))
  const url = (name: string) =>
    checked(name, undefined, (value) => origin(value), 'an address such as https://shop.example, without a path')
  const secrets = checked('SECRET', [], secretList, 'at least 32 characters; several, separated by commas, to rotate')
  const databaseUrl = checked(
    'DATABASE_URL',
    undefined,
    // the driver knows only one host, and would read several as one
    (value) => (/^postgres(ql)?:\/\/(?:[^/]*@)?[^/,@]*(?:\/|\?|$)/.test(value) ? value : undefined),
    'postgres://user:password@host/database with one host; docs/scale.md has what several nodes need',
  )
  const config: Config = {
    port: checked('PORT', 4000, (value) => whole(value, 0, 65_535), 'a port number'),
    host: text('HOST') ?? (isPublic || demoOnNetwork ? '0.0.0.0' : '127.0.0.1'),
    baseUrl: url('BASE_URL'),
    appUrl: url('APP_URL'),
    cookieDomain: checked(
      'COOKIE_DOMAIN',
      undefined,
      cookieDomain,
      'the domain of yours that BASE_URL and APP_URL share, and no suffix such as co.uk',
    ),
    isPublic,
    demoOnNetwork,
    dataDir,
    databaseUrl,
    ...readBackup(reader, { dataDir, secrets, databaseUrl }),
    ...readStorage(reader, dataDir),
    uploads: {
      maxBytes: checked('UPLOAD_MAX_BYTES', 10 * 1024 ** 3, (value) => whole(value, 1, LARGEST_FILE), 'at most 64 GB'),
      quotaBytes: checked('STORAGE_QUOTA_BYTES', 100 * 1024 ** 3, (value) => whole(value, 0, 1e15), 'bytes, or 0'),
      untrustedQuotaBytes: checked(
        'STORAGE_QUOTA_UNTRUSTED_BYTES',
        1024 ** 3,
        (value) => whole(value, 0, 1e15),
        'bytes, or 0',
      ),
    },
    secrets,
    signup: checked(
      'SIGNUP',
      isPublic ? 'approval' : 'open',
      oneOf('open', 'approval', 'closed'),
      'open, approval or closed',
    ),
    operators: checked('OPERATORS', [], mailboxList, 'mailboxes, separated by commas, such as ann@example.com'),
    idp: readIdentityProvider(reader, isPublic),
    smtpUrl: checked(
      'SMTP_URL',
      undefined,
      smtpAddress,
      'smtp://user:password@host:587 or smtps://…; ?tls=none only where the way to the server is safe without TLS',
    ),
    mailConnections: checked('MAIL_CONNECTIONS', 32, (value) => whole(value, 1, 200), '1 to 200'),
    mailFrom: checked('MAIL_FROM', 'Till <till@localhost>', sender, 'an address, or Name <address>'),
    ...readProcessors(reader, isPublic),
    ...readPayouts(reader),
    statementPrefix: checked(
      'STATEMENT_PREFIX',
      'TILL',
      (value) => (/^(?=.*[A-Z])[A-Z0-9][A-Z0-9 .-]{2,9}$/.test(value) ? value : undefined),
      '3 to 10 of A-Z, 0-9, space, . and -, with a letter',
    ),
    orderTtlHours: checked(
      'ORDER_TTL_HOURS',
      { instant: 24, bank: 168 },
      orderTtl,
      'hours, such as 24, or 24,168 (the second for bank transfer and UPI)',
    ),
    limits: checked(
      'LIMITS',
      LIMITS,
      (value) => limitList(value, LIMITS),
      `off, or a list such as checkout=100/60 of ${Object.keys(LIMITS).join(', ')}`,
    ),
    trustProxy: checked('TRUST_PROXY', false, trustedProxy, 'none, at most 5 proxies, or their addresses'),
    countryHeader: checked('COUNTRY_HEADER', undefined, headerName, 'the name of a header, such as cf-ipcountry'),
    viesUrl: checked(
      'VIES_URL',
      undefined,
      viesAddress,
      'https://ec.europa.eu/taxation_customs/vies/rest-api, or another https address',
    ),
    metricsToken: checked(
      'METRICS_TOKEN',
      undefined,
      (value) => (/^[\w~+/.=-]{32,}$/.test(value) ? value : undefined),
      'at least 32 of A-Z, a-z, 0-9 and ._~+/=-',
    ),
    drainSeconds: checked('DRAIN_SECONDS', isPublic ? 10 : 0, (value) => whole(value, 0, 600), 'seconds, at most 600'),
    deadlines: DEADLINES,
    ...readRetention(reader),
    logLevel: checked(
      'LOG_LEVEL',
      'info',
      (value) => (/^(trace|debug|info|warn|error|fatal|silent)$/.test(value) ? value : undefined),
      'trace, debug, info, warn, error, fatal or silent',
    ),
    demo: checked('DEMO', !isPublic, yesOrNo, '1 or 0'),
    webhookReach: checked('WEBHOOK_PRIVATE_NETWORKS', false, yesOrNo, '1 or 0')
      ? 'any'
      : isPublic || demoOnNetwork // strangers choose addresses there too
        ? 'public'
        : 'loopback',
    startedByNpm: env.npm_lifecycle_event !== undefined,
  }
  problems.push(...problemsOfHosts(config))
  problems.push(...(isPublic ? problemsOfPublic(config, reader) : problemsOfPrivate(config, reader)))
  problems.push(...problemsOfKeys(config, reader), ...problemsOfParts(config, reader, env))
  problems.push(...problemsOfNames(env, reader.names), ...problemsOfRestore(config))
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  const secretFile = path.join(dataDir, 'secret')
  const usedSecrets = secrets.length > 0 ? secrets : [storedSecret(secretFile)]
  if (usedSecrets[0]!.length < 32) throw new ConfigError([`SECRET: ${secretFile} is damaged; remove it, or set SECRET`])
  return Object.freeze({ ...config, secrets: usedSecrets })
}

/** A start during a restore, or after one that was cut off, would make an empty shop, which the restore then refuses. */
function problemsOfRestore({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string[] {
  const restoring = path.join(dataDir, UNFINISHED)
  if (databaseUrl || !fs.existsSync(restoring) || fs.existsSync(path.join(dataDir, 'postgres'))) return []
  return [
    `DATA_DIR: a restore works in ${restoring}, or was cut off: wait for its end, or remove that folder and run it again`,
  ]
}

/**
 * Reads the settings that a restore needs, and makes no secret: an empty DATA_DIR stays empty. `secrets` is empty when SECRET is not set.
 * Throws a ConfigError.
 */
export function readRestoreConfig(env: Environment = process.env) {
  const reader = newReader(env)
  const dataDir = path.resolve(reader.text('DATA_DIR') ?? fileURLToPath(new URL('../data', import.meta.url)))
  const secrets = reader.checked('SECRET', [], secretList, 'at least 32 characters')
  const databaseUrl = reader.text('DATABASE_URL')
  const { backup } = readBackup(reader, { dataDir, secrets, databaseUrl })
  const config = { dataDir, secrets, backup, databaseUrl, ...readStorage(reader, dataDir) }
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  return config
}

/** Plain http is for tests on this machine. */
function viesAddress(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || url.search || url.hash || url.username) return undefined
  const isHere = url.protocol === 'http:' && /^(?:127\.0\.0\.1|localhost)$/.test(url.hostname)
  return url.protocol === 'https:' || isHere ? value : undefined
}

/** A cookie reaches both hosts only if both are its domain or below it. */
function problemsOfHosts({ cookieDomain, baseUrl, appUrl }: Config): string[] {
  if (!cookieDomain) return []
  return [
    ['BASE_URL', baseUrl],
    ['APP_URL', appUrl ?? baseUrl],
  ].flatMap(([name, url]) => {
    const host = url ? new URL(url).hostname : ''
    return host === cookieDomain || host.endsWith(`.${cookieDomain}`) ? [] : [`COOKIE_DOMAIN: ${name} is not within it`]
  })
}

function orderTtl(value: string): Config['orderTtlHours'] | undefined {
  const list = value.split(',').map((hours) => whole(hours.trim(), 1, 8760) ?? 0)
  const [instant = 0, bank = 168] = list
  return list.length > 2 || list.includes(0) ? undefined : { instant, bank: Math.max(instant, bank) }
}
