import type { Config } from '../../src/config.ts'
import type { Environment } from '../../src/config/reader.ts'
import { inTime } from '../../src/kit/time.ts'
import { checkBackup } from './backup.ts'
import { checkClocks } from './clock.ts'
import { checkDatabase, openDatabase } from './database.ts'
import { type Clock, type Finding, type Patience, type Patient, examined } from './finding.ts'
import { checkInstallation } from './installation.ts'
import { checkMail } from './mail.ts'
import { checkPayouts } from './payouts.ts'
import { checkProcessor } from './processors.ts'
import { checkProvider } from './provider.ts'
import { checkService } from './service.ts'
import { checkCookies, checkKeys, checkSettings } from './settings.ts'
import { checkBucket, checkStorage } from './storage.ts'

/** All findings about a service with these settings. The examination leaves nothing behind, and the findings contain no secret. */
export async function examine(env: Environment, patience: Patience): Promise<Finding[]> {
  const { config, findings } = checkSettings(env)
  return config ? [...findings, ...(await examineConfig(config, patience))] : findings
}

/** Runs all checks side by side. */
export async function examineConfig(config: Config, patience: Patience): Promise<Finding[]> {
  const opening = openDatabase(config, patience)
  const clocks: Clock[] = []
  const baseUrl = config.baseUrl ?? ownUrl(config)
  const appUrl = config.appUrl ?? baseUrl
  const database = opening.then(({ connection }) => connection?.db)
  const patient: Patient = { config, baseUrl, appUrl, database, clocks, patience }

  const checked = (about: string, advice: string, work: () => Promise<Finding | Finding[]>) =>
    examined(about, advice, work, patience)

  const found = await Promise.all([
    checked('database', 'see DATABASE_URL', async () => checkDatabase(patient, await opening)),
    checked('storage', 'see STORAGE_URL', () => (config.s3 ? checkBucket(config.s3) : checkStorage(config.storageDir))),
    checked('secret', 'see SECRET', () => checkInstallation(patient)),
    checked('mail', 'see SMTP_URL', () => checkMail(patient)),
    checked('sign-in', 'see IDP_ISSUER', () => checkProvider(patient)),
    ...config.processors.flatMap((name) =>
      name === 'sandbox' ? [] : [checked(name, 'see docs/payments.md', () => checkProcessor(patient, name))],
    ),
    checked('payouts', 'see docs/payouts.md', () => checkPayouts(patient)),
    checked('backup', 'see BACKUP_URL and docs/backup.md', () => checkBackup(patient)),
    checked('service', 'see its log', () => checkService(patient)),
  ])
  await inTime(
    opening.then(({ close }) => close()),
    patience.checkMs,
  ).catch(() => {})
  const all = [...checkKeys(config), checkCookies({ ...config, baseUrl, appUrl }), ...found.flat()]
  return withoutSecrets([...all, checkClocks(clocks)], config)
}

/** The address of a service without BASE_URL, from this machine. */
function ownUrl({ host, port }: Config): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** Removes secrets from the findings, in case a text from another server contains one. */
function withoutSecrets(
  findings: Finding[],
  { secrets, stripe, razorpay, idp, databaseUrl, smtpUrl, s3, backup }: Config,
): Finding[] {
  const passwords = [databaseUrl, smtpUrl].flatMap((url) => /:\/\/[^:@/]*:([^@/]+)@/.exec(url ?? '')?.[1] ?? [])
  const all = [
    ...secrets,
    ...passwords,
    ...passwords.flatMap((one) => (/%(?![0-9a-f]{2})/i.test(one) ? [] : [decodeURIComponent(one)])),
    stripe?.secretKey,
    ...(stripe?.webhookSecrets ?? []),
    razorpay?.keySecret,
    ...(razorpay?.webhookSecrets ?? []),
    idp?.clientSecret,
    s3?.keys?.secret,
    ...(backup?.keys ?? []),
    ...(backup && 's3' in backup.place ? [backup.place.s3.keys?.secret] : []),
  ].filter((secret): secret is string => secret !== undefined && secret.length > 3)
  const clean = (text: string) => all.reduce((rest, secret) => hide(rest, secret), text)
  return findings.map(({ says, advice, ...rest }) => ({
    ...rest,
    says: clean(says),
    ...(advice && { advice: clean(advice) }),
  }))
}

/** A password that is an ordinary word, as in examples of the settings, is hidden only in addresses, because findings use such words. */
const ORDINARY = /^(?:[a-z]{1,15}|\d{1,7})$/i

const hide = (text: string, secret: string): string =>
  ORDINARY.test(secret) ? text.replaceAll(`:${secret}@`, ':…@') : text.replaceAll(secret, '…')
