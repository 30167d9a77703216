import { isLocalName } from '../kit/local-names.ts'
import { modeOf } from '../processors/settings.ts'
import { problemsOfSharing } from './backup.ts'
import type { Environment, Reader } from './reader.ts'
import type { Config } from './shape.ts'

const LEAST_HOLD_DAYS = 5

/** Settings that mean something only beside others. A part of them is not taken for none. */
export function problemsOfParts(config: Config, { text, names }: Reader, env: Environment): string[] {
  const problems = problemsOfSharing(config)
  for (const name of names)
    if (env[name]?.trim() && env[`${name}_FILE`])
      problems.push(`${name}: set here and by ${name}_FILE; keep one of them`)
  // mail servers refuse the default sender, and codes to sign in would never arrive
  if (config.smtpUrl && !config.isPublic && !text('MAIL_FROM') && !isLocalName(new URL(config.smtpUrl).hostname))
    problems.push('MAIL_FROM: required with SMTP_URL')
  // with BACKUP_URL=none they may be those of the backup's bucket
  if (!config.backupIsOff && !['STORAGE_URL', 'BACKUP_URL'].some((name) => text(name)?.startsWith('s3:')))
    for (const name of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'])
      if (text(name))
        problems.push(`${name}: of no use without STORAGE_URL=s3://…, so the files would not go to a bucket`)
  for (const [name, key] of [
    ['STRIPE_PAYMENT_METHOD_TYPES', 'STRIPE_SECRET_KEY'],
    ['STRIPE_API_URL', 'STRIPE_SECRET_KEY'],
    ['RAZORPAY_API_URL', 'RAZORPAY_KEY_ID'],
    ['PAYOUT_FROM_IBAN', 'PAYOUT_FROM_NAME'],
    ['PAYOUT_FROM_NAME', 'PAYOUT_FROM_IBAN'],
    ['PAYOUT_FROM_BIC', 'PAYOUT_FROM_IBAN'],
  ] as const)
    if (text(name) && !text(key)) problems.push(`${key}: required with ${name}`)
  // without a proxy that sets it, each visitor could choose a country
  if (config.countryHeader && config.trustProxy === false)
    problems.push('TRUST_PROXY: the proxy that sets COUNTRY_HEADER, required with it')
  // a buyer who chose the one in test mode would get the files for a card that is not real
  const { stripe, razorpay } = config
  if (stripe?.secretKey && razorpay?.keyId && modeOf(stripe.secretKey) !== modeOf(razorpay.keyId))
    problems.push('RAZORPAY_KEY_ID: of the other mode (test or live) than STRIPE_SECRET_KEY')
  // another processor would take sellers' money to the service's own account
  if (config.payouts.by === 'stripe-connect' && config.processors.join() !== 'stripe')
    problems.push('PAYOUTS: stripe-connect needs PROCESSORS=stripe, and Stripe’s keys')
  if (config.payouts.by === 'razorpay-route') {
    if (config.processors.join() !== 'razorpay')
      problems.push('PAYOUTS: razorpay-route needs PROCESSORS=razorpay, and Razorpay’s keys')
    // Razorpay tries a failed transfer again on three days, and until then the operator must not pay the same money by bank
    if (config.payouts.holdDays < LEAST_HOLD_DAYS)
      problems.push(`PAYOUT_HOLD_DAYS: at least ${LEAST_HOLD_DAYS} with PAYOUTS=razorpay-route`)
  }
  return problems
}
