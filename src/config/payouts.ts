import { electronicFormatIBAN, isSEPACountry, isValidBIC, isValidIBAN } from 'ibantools'
import { CURRENCIES } from '../kit/currencies.ts'
import { decimalsOf } from '../kit/money.ts'
import { oneOf, whole } from './parsers.ts'
import type { Reader } from './reader.ts'

export interface PayoutsConfig {
  readonly payouts: {
    /** How sellers get their money: the operator pays by bank, or the processor pays them. */
    readonly by: 'manual' | 'stripe-connect' | 'razorpay-route'
    /** Whether PAYOUTS is set. Otherwise `by` is the default. */
    readonly isSet: boolean
    /** How long the money of a sale waits. */
    readonly holdDays: number
    readonly schedule: 'weekly' | 'monthly'
    /** The least amount of a payout in minor units, by currency. */
    readonly minimumMinor: Readonly<Record<string, number>>
    /** The account that pays in euros. Without it there is no SEPA file. */
    readonly from: { readonly name: string; readonly iban: string; readonly bic: string | undefined } | undefined
  }
}

/** Longer than any dispute takes to arrive. */
const LONGEST_HOLD_DAYS = 180

export function readPayouts(reader: Reader): PayoutsConfig {
  const { checked, text } = reader
  return {
    payouts: {
      by: checked(
        'PAYOUTS',
        'manual',
        oneOf('manual', 'stripe-connect', 'razorpay-route'),
        'manual, stripe-connect or razorpay-route',
      ),
      isSet: text('PAYOUTS') !== undefined,
      holdDays: checked(
        'PAYOUT_HOLD_DAYS',
        7,
        (value) => whole(value, 0, LONGEST_HOLD_DAYS),
        `0 to ${LONGEST_HOLD_DAYS} days`,
      ),
      schedule: checked('PAYOUT_SCHEDULE', 'weekly', oneOf('weekly', 'monthly'), 'weekly or monthly'),
      minimumMinor: checked('PAYOUT_MINIMUM', {}, minimums, 'amounts with their currencies, such as 20 EUR,500 INR'),
      from: readPayer(reader),
    },
  }
}

/** SEPA takes names of 70 characters. */
const LONGEST_NAME = 70

function readPayer({ checked }: Reader): PayoutsConfig['payouts']['from'] {
  const name = checked(
    'PAYOUT_FROM_NAME',
    undefined,
    (value) => (value.length <= LONGEST_NAME && !/\p{Cc}/u.test(value) ? value : undefined),
    `the holder of the account, at most ${LONGEST_NAME} characters`,
  )
  const iban = checked('PAYOUT_FROM_IBAN', undefined, sepaIban, 'an IBAN of a SEPA country')
  const bic = checked(
    'PAYOUT_FROM_BIC',
    undefined,
    (value) => (isValidBIC(value.toUpperCase()) ? value.toUpperCase() : undefined),
    'a BIC, such as COBADEFFXXX',
  )
  return name !== undefined && iban !== undefined ? { name, iban, bic } : undefined
}

function sepaIban(value: string): string | undefined {
  const iban = electronicFormatIBAN(value) ?? ''
  return isValidIBAN(iban) && isSEPACountry(iban.slice(0, 2)) ? iban : undefined
}

/** `20 EUR,500 INR`, each currency once, with at most the decimals that the currency has. */
function minimums(value: string): Record<string, number> | undefined {
  const amounts: Record<string, number> = {}
  for (const entry of value.split(',')) {
    const [, units = '', decimals = '', currency = ''] = /^\s*(\d{1,9})(?:\.(\d+))?\s+([A-Z]{3})\s*$/.exec(entry) ?? []
    const places = decimalsOf(currency)
    if (!CURRENCIES.has(currency) || currency in amounts || decimals.length > places) return undefined
    amounts[currency] = Number(units + decimals.padEnd(places, '0'))
  }
  return amounts
}
