import type { Config } from './shape.ts'
import { isLocalName, isLoopback } from '../kit/local-names.ts'
import { modeOf } from '../processors/settings.ts'
import type { Reader } from './reader.ts'

/** Real users reach a public service, so it must not run on the defaults of a developer's machine. */
export function problemsOfPublic(config: Config, { text }: Reader): string[] {
  const problems: string[] = []
  for (const [name, value] of addressesOf(config)) {
    if (!value?.startsWith('https://')) problems.push(`${name}: an https address is required where PUBLIC=1`)
  }
  if (config.demoOnNetwork) problems.push('DEMO_ON_NETWORK: a public service is no demo; take it or PUBLIC away')
  // its seller is trusted, and everybody would buy its products with real money
  if (config.demo && !config.processors.includes('sandbox'))
    problems.push('DEMO: where PUBLIC=1 the demo runs only with the sandbox; take it away, or set PROCESSORS=sandbox')
  if (config.secrets.length === 0) problems.push('SECRET: required where PUBLIC=1')
  if (!config.smtpUrl) problems.push('SMTP_URL: required where PUBLIC=1')
  if (!text('MAIL_FROM')) problems.push('MAIL_FROM: required where PUBLIC=1')
  if (!text('PROCESSORS') && config.processors.includes('sandbox'))
    problems.push('PROCESSORS: a processor’s keys are required where PUBLIC=1 (the sandbox only if named)')
  if (config.s3?.endpoint && !(config.s3.publicEndpoint ?? config.s3.endpoint).startsWith('https://'))
    problems.push('STORAGE_URL: where PUBLIC=1 browsers fetch files by https: name that address as public=https://…')
  if (text('LIMITS') === 'off') problems.push('LIMITS: off is refused where PUBLIC=1')
  // TLS ends at a proxy; if we do not trust it to name the client, the limits count all clients as one network
  if (!text('TRUST_PROXY'))
    problems.push('TRUST_PROXY: required where PUBLIC=1: how many proxies are in front, or their addresses, or none')
  return problems
}

/**
 * Without PUBLIC=1 only this machine reaches the service, because its outbox shows every sign-in code. An address that others could
 * use, or a key that moves money, means that PUBLIC was forgotten.
 */
export function problemsOfPrivate(config: Config, reader: Reader): string[] {
  const problems: string[] = []
  const { demoOnNetwork, host } = config
  if (!demoOnNetwork && !isLoopback(host))
    problems.push(
      'HOST: only 127.0.0.1, ::1 or localhost without PUBLIC=1; DEMO_ON_NETWORK=1 shows a demo to a network',
    )
  for (const [name, value] of addressesOf(config)) {
    if (!value) continue
    const { protocol, hostname } = new URL(value)
    if (protocol === 'https:') problems.push(`${name}: an https address needs PUBLIC=1`)
    else if (!demoOnNetwork && !isLocalName(hostname))
      problems.push(`${name}: only an address of this machine, such as http://localhost:4000, without PUBLIC=1 or DEMO_ON_NETWORK=1`) // oxfmt-ignore
  }
  for (const name of liveKeys(reader)) problems.push(`${name}: a live key needs PUBLIC=1; use the test keys here`)
  return problems
}

/** With live keys and the sandbox together, a buyer could choose a pretended payment and get the files for nothing. */
export function problemsOfKeys({ processors }: Config, reader: Reader): string[] {
  if (!processors.includes('sandbox') || liveKeys(reader).length === 0) return []
  return ['PROCESSORS: the sandbox, where everybody pays with nothing, never serves beside live keys']
}

const addressesOf = ({ baseUrl, appUrl }: Config) =>
  [
    ['BASE_URL', baseUrl],
    ['APP_URL', appUrl],
  ] as const

/** The settings with a live key, also of a processor that is not used. */
const liveKeys = ({ text }: Reader): string[] =>
  ['STRIPE_SECRET_KEY', 'RAZORPAY_KEY_ID'].filter((name) => modeOf(text(name) ?? '') === 'live')
