import { Refusal } from '../../kit/errors.ts'
import { type IndianAccount, type NumberForm, checkedIndianAccount } from '../destination.ts'
import type { Business } from './business-schema.ts'

/** Razorpay takes other numbers too than the digits of RBI. */
const NUMBER: NumberForm = {
  form: /^[0-9A-Z]{5,35}$/,
  says: '5 to 35 digits or letters',
  otherwise: 'Give the number of your account.',
}

/**
 * The bank account of a business: from `account`, or from the two members that were there before it. Refuses as checkedIndianAccount(),
 * and `validation_failed`.
 */
export function bankAccountOf({
  account,
  ifsc,
  accountNumber,
}: Pick<Business, 'account' | 'ifsc' | 'accountNumber'>): IndianAccount {
  const isOne = account !== undefined
  if (isOne && ifsc === undefined && accountNumber === undefined) return checkedIndianAccount(account, NUMBER)
  if (!isOne && ifsc !== undefined && accountNumber !== undefined) return { ifsc, accountNumber }
  const message = isOne
    ? 'must stand alone, without ifsc and accountNumber'
    : 'must be the IFSC and the number of the bank account in one'
  throw new Refusal(
    'validation_failed',
    'Give the bank account one time: as `account`, or as `ifsc` with `accountNumber`.',
    {
      fields: [{ path: 'account', message }],
    },
  )
}
