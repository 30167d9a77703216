import type { Config } from '../config.ts'
import type { Reader } from './reader.ts'

/** Real users reach it: nothing may be left to the defaults of a newcomer's machine. */
export function problemsOfPublic(config: Config, { text }: Reader): string[] {
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
  if (!text('PROCESSORS') && config.processors.includes('sandbox'))
    problems.push('PROCESSORS: a processor’s keys are required where PUBLIC=1 (the sandbox only if named)')
  if (config.s3?.endpoint && !(config.s3.publicEndpoint ?? config.s3.endpoint).startsWith('https://'))
    problems.push('STORAGE_URL: where PUBLIC=1 browsers fetch files by https: name that address as public=https://…')
  if (text('LIMITS') === 'off') problems.push('LIMITS: off is refused where PUBLIC=1')
  return problems
}
