import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Config, ConfigError, readConfig } from '../../src/config.ts'
import { modeOf } from '../../src/processors/settings.ts'
import { type Environment, newReader } from '../../src/config/reader.ts'
import { CannotStart } from '../../src/kit/cannot-start.ts'
import { yesOrNo } from '../../src/config/parsers.ts'
import { operatorsCannotEnter } from '../../src/config/warnings.ts'
import { siteOfHost } from '../../src/kit/domains.ts'
import { isLoopback } from '../../src/kit/local-names.ts'
import { type Finding, failure, fine, warning } from './finding.ts'

const DATA_DIR = fileURLToPath(new URL('../../data', import.meta.url))

/** Reads the settings as the service does, or lists the wrong ones. It makes no new secret. */
export function checkSettings(env: Environment): { config?: Config; findings: Finding[] } {
  const { text, checked, problems: unreadable } = newReader(env)
  const secretFile = path.join(path.resolve(text('DATA_DIR') ?? DATA_DIR), 'secret')
  const isPublic = checked('PUBLIC', false, yesOrNo, '')
  const isNew = !isPublic && !text('SECRET') && !fs.existsSync(secretFile)
  try {
    // an empty SECRET_FILE counts as not set
    const newSecret = { SECRET: 'x'.repeat(32), ...(unreadable.length === 0 && { SECRET_FILE: undefined }) }
    const config = readConfig(isNew ? { ...env, ...newSecret } : env)
    const kind = config.isPublic ? 'a public service' : 'a private service (PUBLIC is not 1)'
    const processors = config.processors.join(', ') || 'no processor: payments are not live'
    return { config, findings: [fine('settings', `read: ${kind}; ${processors}`)] }
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    const problems = error instanceof ConfigError ? error.message.split('\n').slice(1) : [error.message]
    const about = 'settings'
    return { findings: problems.map((problem) => failure(about, problem.trim(), 'docs/settings.md has them all')) }
  }
}

/** Checks whether the keys fit the place: live keys belong to a public service, and test keys to a private machine. */
export function checkKeys({ isPublic, stripe, razorpay, processors }: Config): Finding[] {
  const findings: Finding[] = []
  for (const [name, key] of [
    ['stripe', stripe?.secretKey],
    ['razorpay', razorpay?.keyId],
  ] as const) {
    if (!key) continue
    const about = `${name} keys`
    const mode = modeOf(key)
    // with live keys a private service does not start, which is a finding about the settings
    if (mode === 'test' && isPublic)
      findings.push(
        warning(about, 'TEST KEYS ON A PUBLIC SERVICE: files are delivered, and NO MONEY MOVES', 'use the live keys before you sell'),
      ) // oxfmt-ignore
    else
      findings.push(fine(about, `${mode} keys, as ${isPublic ? 'a public service' : 'a private machine'} should have`))
  }
  if (isPublic && processors.includes('sandbox'))
    findings.push(
      warning('sandbox', 'THE SANDBOX ON A PUBLIC SERVICE: a buyer who chooses it PAYS NOTHING', 'remove it from PROCESSORS before you sell'),
    ) // oxfmt-ignore
  for (const [name, url] of [
    ['STRIPE_API_URL', stripe?.apiUrl],
    ['RAZORPAY_API_URL', razorpay?.apiUrl],
  ] as const)
    if (url && isPublic)
      findings.push(warning(name, `payments go to ${url}, and not to the processor`, `remove ${name}`))
  return findings
}

/** Checks whether a session works at both addresses. The settings already make sure that COOKIE_DOMAIN covers both. */
export function checkCookies({
  baseUrl,
  appUrl,
  cookieDomain,
  operators,
}: Pick<Config, 'cookieDomain' | 'operators'> & { baseUrl: string; appUrl: string }): Finding {
  const about = 'sessions'
  const [api, pages] = [new URL(baseUrl).hostname, new URL(appUrl).hostname]
  const domain = cookieDomain
    ? `the cookie belongs to ${cookieDomain} and all below it`
    : `the cookie belongs to ${api}`
  if (api === pages) return fine(about, domain)
  const site = (host: string) => siteOfHost(host) ?? host
  if (isLoopback(api) || isLoopback(pages) || site(api) !== site(pages))
    return failure(
      about,
      `BASE_URL (${api}) and APP_URL (${pages}) are two sites: browsers send no session from one to the other`,
      'put both below one domain, such as api.shop.example and shop.example',
    )
  if (operatorsCannotEnter({ operators, cookieDomain, baseUrl, appUrl }))
    return failure(
      about,
      `${domain}, so the operators’ page at ${pages} never sees it: /operator/ and the links in the operators’ mails lead to a 404`,
      'set COOKIE_DOMAIN to the domain of both hosts',
    )
  return fine(about, domain)
}
