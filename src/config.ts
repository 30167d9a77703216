import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { keptSecret } from './kit/kept-secret.ts'
import type { Limit } from './kit/limits.ts'
import {
  cookieDomain,
  issuer,
  limitList,
  oneOf,
  origin,
  secretList,
  sender,
  trustedProxy,
  whole,
  yesOrNo,
} from './kit/settings.ts'

/** Every limit there is, and how much it allows where LIMITS does not say otherwise. */
const LIMITS = {
  checkout: { count: 30, seconds: 60 },
  status: { count: 60, seconds: 60 },
  wrong_email: { count: 10, seconds: 3600 },
  receipt: { count: 5, seconds: 3600 },
  sandbox: { count: 60, seconds: 60 },
  code: { count: 3, seconds: 900 },
  code_address: { count: 10, seconds: 3600 },
  code_try: { count: 10, seconds: 3600 },
  password: { count: 10, seconds: 900 },
  idp: { count: 30, seconds: 60 },
} satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
export type Limits = Partial<Record<LimitName, Limit>>
const IDP_REQUIRED = ['IDP_ISSUER', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET']
const AUTH_METHODS = ['client_secret_post', 'client_secret_basic'] as const
const PROCESSORS = ['sandbox'] as const
export type ProcessorName = (typeof PROCESSORS)[number]

export interface Config {
  readonly port: number
  readonly host: string
  /** Where the API and the pages are reached. Absent: at the address the service comes to listen on. */
  readonly baseUrl: string | undefined
  readonly appUrl: string | undefined
  /** What the session cookie is scoped to. Absent: the API's own host. */
  readonly cookieDomain: string | undefined
  readonly isPublic: boolean
  readonly dataDir: string
  /** Absent: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined
  readonly storageDir: string
  /** The first signs, all verify. */
  readonly secrets: readonly string[]
  /** Closed: only who is a seller already can sign in. */
  readonly signup: 'open' | 'closed'
  /** Absent: nobody signs in through an identity provider. */
  readonly idp: IdpConfig | undefined
  /** Absent: mails are kept for the outbox page. */
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  /** In order of preference. None: card payments are not live. */
  readonly processors: readonly ProcessorName[]
  readonly statementPrefix: string
  readonly orderTtlHours: { readonly instant: number; readonly bank: number }
  readonly limits: Limits
  readonly trustProxy: boolean | number | string
  readonly logLevel: string
  readonly demo: boolean
  /** Started by `npm start`, which passes no signals on. */
  readonly startedByNpm: boolean
}

export interface IdpConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly authMethod: (typeof AUTH_METHODS)[number]
  /** What the button says. */
  readonly label: string
}

/** The settings that are wrong, each with its name: the service does not start with a guess. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The settings are not right:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

type Environment = Record<string, string | undefined>
type Checked = <T>(name: string, fallback: T, parse: (value: string) => T | undefined, expected: string) => T

/** Reads the environment, once. Every setting can also be read from a file: `NAME_FILE`. Throws a ConfigError that names what is wrong. */
export function readConfig(env: Environment = process.env): Config {
  const problems: string[] = []
  const text = (name: string): string | undefined => {
    const file = env[`${name}_FILE`]
    if (!file) return env[name]?.trim() || undefined
    try {
      return fs.readFileSync(file, 'utf8').trim() || undefined
    } catch {
      problems.push(`${name}_FILE: ${file} cannot be read`)
    }
  }
  const checked: Checked = (name, fallback, parse, expected) => {
    const value = text(name)
    if (value === undefined) return fallback
    const parsed = parse(value)
    if (parsed === undefined) problems.push(`${name}: expected ${expected}`)
    return parsed ?? fallback
  }

  const isPublic = checked('PUBLIC', false, yesOrNo, '1 or 0')
  const dataDir = path.resolve(text('DATA_DIR') ?? fileURLToPath(new URL('../data', import.meta.url)))
  const url = (name: string) =>
    checked(name, undefined, (value) => origin(value), 'an address such as https://shop.example, without a path')
  const config: Config = {
    port: checked('PORT', 4000, (value) => whole(value, 0, 65_535), 'a port number'),
    host: text('HOST') ?? (isPublic ? '0.0.0.0' : '127.0.0.1'),
    baseUrl: url('BASE_URL'),
    appUrl: url('APP_URL'),
    cookieDomain: checked('COOKIE_DOMAIN', undefined, cookieDomain, 'the domain that BASE_URL and APP_URL share'),
    isPublic,
    dataDir,
    databaseUrl: checked(
      'DATABASE_URL',
      undefined,
      (value) => (/^postgres(ql)?:\/\//.test(value) ? value : undefined),
      'postgres://user:password@host/database',
    ),
    storageDir: checked(
      'STORAGE_URL',
      path.join(dataDir, 'files'),
      (value) => /^file:(?:\/\/)?(.+)/.exec(value)?.[1],
      'file:/a/folder',
    ),
    secrets: checked('SECRET', [], secretList, 'at least 32 characters; several, separated by commas, to rotate'),
    signup: checked('SIGNUP', 'open', oneOf('open', 'closed'), 'open or closed'),
    idp: idpConfig(checked, text, isPublic, problems),
    smtpUrl: checked(
      'SMTP_URL',
      undefined,
      (value) => (/^smtps?:\/\/[^/]/.test(value) ? value : undefined),
      'smtp://user:password@host:587 or smtps://…',
    ),
    mailFrom: checked('MAIL_FROM', 'Till <till@localhost>', sender, 'an address, or Name <address>'),
    processors: checked('PROCESSORS', ['sandbox'], processorList, `a list of ${PROCESSORS.join(', ')}, or none`),
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
    trustProxy: checked('TRUST_PROXY', false, trustedProxy, '1, a number of proxies, or their addresses'),
    logLevel: checked(
      'LOG_LEVEL',
      'info',
      (value) => (/^(trace|debug|info|warn|error|fatal|silent)$/.test(value) ? value : undefined),
      'trace, debug, info, warn, error, fatal or silent',
    ),
    demo: checked('DEMO', !isPublic, yesOrNo, '1 or 0'),
    startedByNpm: env.npm_lifecycle_event !== undefined,
  }
  problems.push(...problemsOfHosts(config))
  if (isPublic) problems.push(...problemsOfPublic(config, text))
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  const secretFile = path.join(dataDir, 'secret')
  const secrets = config.secrets.length > 0 ? config.secrets : [keptSecret(secretFile)]
  if (secrets[0]!.length < 32) throw new ConfigError([`SECRET: ${secretFile} is damaged; remove it, or set SECRET`])
  return Object.freeze({ ...config, secrets })
}

/** All of the provider's settings, or none of them. */
function idpConfig(
  checked: Checked,
  text: (name: string) => string | undefined,
  isPublic: boolean,
  problems: string[],
): IdpConfig | undefined {
  const idp = {
    issuer: checked<string>('IDP_ISSUER', '', (value) => issuer(value, isPublic), 'the provider’s https address'),
    clientId: text('IDP_CLIENT_ID') ?? '',
    clientSecret: text('IDP_CLIENT_SECRET') ?? '',
    authMethod: checked('IDP_AUTH_METHOD', AUTH_METHODS[0], oneOf(...AUTH_METHODS), AUTH_METHODS.join(' or ')),
    label: checked('IDP_LABEL', 'your company account', (value) => value.slice(0, 60), 'a few words'),
  }
  const named = IDP_REQUIRED.map((name) => ({
    name,
    is: text(name) !== undefined,
  }))
  const isMeant = [...IDP_REQUIRED, 'IDP_LABEL', 'IDP_AUTH_METHOD'].some((name) => text(name) !== undefined)
  if (!isMeant) return undefined
  for (const { name, is } of named) if (!is) problems.push(`${name}: required with the other IDP_ settings`)
  return idp
}

/** A cookie reaches both hosts only when both lie below its domain. */
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

/** Real users reach it: nothing may be left to the defaults of a newcomer's machine. */
function problemsOfPublic(config: Config, text: (name: string) => string | undefined): string[] {
  const problems: string[] = []
  for (const [name, value] of [
    ['BASE_URL', config.baseUrl],
    ['APP_URL', config.appUrl],
  ] as const) {
    if (!value?.startsWith('https://')) problems.push(`${name}: an https address is required where PUBLIC=1`)
  }
  if (config.secrets.length === 0) problems.push('SECRET: required where PUBLIC=1')
  if (!config.smtpUrl) problems.push('SMTP_URL: required where PUBLIC=1')
  if (!text('MAIL_FROM')) problems.push('MAIL_FROM: required where PUBLIC=1')
  if (!text('PROCESSORS')) problems.push('PROCESSORS: required where PUBLIC=1 (sandbox only if named)')
  if (text('LIMITS') === 'off') problems.push('LIMITS: off is refused where PUBLIC=1')
  return problems
}

function processorList(value: string): ProcessorName[] | undefined {
  if (value === 'none') return []
  const list = value.split(',').map((name) => name.trim())
  return list.every((name): name is ProcessorName => (PROCESSORS as readonly string[]).includes(name))
    ? list
    : undefined
}

function orderTtl(value: string): Config['orderTtlHours'] | undefined {
  const list = value.split(',').map((hours) => whole(hours.trim(), 1, 8760) ?? 0)
  const [instant = 0, bank = 168] = list
  return list.length > 2 || list.includes(0) ? undefined : { instant, bank: Math.max(instant, bank) }
}
