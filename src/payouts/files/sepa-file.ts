import assert from 'node:assert/strict'
import { decimalText } from '../../kit/money.ts'
import type { SepaPayment } from './payment.ts'
import { sepaText } from './sepa-text.ts'

/** The account that pays. */
export interface Payer {
  name: string
  iban: string
  bic?: string | undefined
}

export interface SepaFile {
  /** Unique, at most 35 letters and digits. A bank refuses a file whose id it knows, so a file that is sent twice is paid once. */
  messageId: string
  createdAt: Date
  /** The day on which the bank shall pay, such as 2026-11-24. */
  executeOn: string
  payer: Payer
  payments: readonly SepaPayment[]
}

/** EPC132-08: names have 70 characters, an amount is at most 999,999,999.99. */
const LONGEST_NAME = 70
const LARGEST_MINOR = 99_999_999_999
const REFERENCE = /^[A-Za-z0-9]{1,35}$/

/**
 * A SEPA credit transfer as pain.001.001.09, by the rules of EPC132-08. The same input gives the same bytes, so a file can be made again.
 * The bank books each payment by itself, so that its statement names each reference.
 */
export async function sepaFile({ messageId, createdAt, executeOn, payer, payments }: SepaFile): Promise<string> {
  assert(payments.length > 0, 'a file holds payments')
  assert(REFERENCE.test(messageId), 'the message id fits')
  const sumMinor = payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
  assert(Number.isSafeInteger(sumMinor), 'the sum is exact')
  const payerName = await nameOf(payer.name)
  const counted = element('NbOfTxs', String(payments.length)) + element('CtrlSum', decimalText(sumMinor, 'EUR'))
  const header = element(
    'GrpHdr',
    element('MsgId', messageId) +
      element('CreDtTm', createdAt.toISOString()) +
      counted +
      element('InitgPty', element('Nm', payerName)),
  )
  const transfers = await Promise.all(payments.map(transferOf))
  const instruction = element(
    'PmtInf',
    element('PmtInfId', messageId) +
      element('PmtMtd', 'TRF') +
      element('BtchBookg', 'false') +
      counted +
      element('PmtTpInf', element('SvcLvl', element('Cd', 'SEPA'))) +
      element('ReqdExctnDt', element('Dt', executeOn)) +
      element('Dbtr', element('Nm', payerName)) +
      accountOf('DbtrAcct', payer.iban) +
      // a bank that is named by its IBAN alone
      element(
        'DbtrAgt',
        element('FinInstnId', payer.bic ? element('BICFI', payer.bic) : element('Othr', element('Id', 'NOTPROVIDED'))),
      ) + // oxfmt-ignore
      element('ChrgBr', 'SLEV') +
      transfers.map((transfer) => `\n${transfer}`).join(''),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
${header}
${instruction}
</CstmrCdtTrfInitn></Document>
`
}

async function transferOf({ reference, destination, amountMinor, currency }: SepaPayment): Promise<string> {
  assert(REFERENCE.test(reference), 'the reference fits')
  assert(Number.isSafeInteger(amountMinor) && amountMinor > 0 && amountMinor <= LARGEST_MINOR, 'SEPA takes the amount')
  assert(currency === 'EUR', 'SEPA takes euros')
  const { bic, iban, name } = destination
  return element(
    'CdtTrfTxInf',
    element('PmtId', element('InstrId', reference) + element('EndToEndId', reference)) +
      element('Amt', `<InstdAmt Ccy="EUR">${decimalText(amountMinor, 'EUR')}</InstdAmt>`) +
      (bic ? element('CdtrAgt', element('FinInstnId', element('BICFI', bic))) : '') +
      element('Cdtr', element('Nm', await nameOf(name))) +
      accountOf('CdtrAcct', iban) +
      element('RmtInf', element('Ustrd', `Payout ${reference}`)),
  )
}

const accountOf = (name: string, iban: string): string => element(name, element('Id', element('IBAN', iban)))

/** A name of signs alone has nothing that SEPA takes, and a payment without a name is refused. */
const nameOf = async (name: string): Promise<string> =>
  escaped((await sepaText(name, LONGEST_NAME)) || 'Account holder')

const element = (name: string, content: string): string => `<${name}>${content}</${name}>`

/** XML gives a meaning to `&`, `<` and `>` in a text, and none of them is a SEPA character. The apostrophe is plain there. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
