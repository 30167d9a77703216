import type { ExportParts } from './export.ts'
import { payoutSeal } from './details.ts'
import { bankCsv } from './files/bank-csv.ts'
import { isSepa } from './files/payment.ts'
import { type Payer, sepaFile } from './files/sepa-file.ts'

/** The settings that bank files need. Without `from`, the account that pays, euros go into a CSV too. */
export interface ExportSettings {
  secrets: readonly string[]
  payouts: { from?: Payer | undefined }
}

/** How bank files are written and kept. */
export function exportParts({ secrets, payouts: { from } }: ExportSettings): ExportParts {
  return {
    seal: payoutSeal(secrets),
    paidFrom: from?.iban,
    writers: {
      sepa:
        from &&
        (({ payouts, ...file }) => {
          const executeOn = new Date().toISOString().slice(0, 10)
          return sepaFile({ ...file, executeOn, payer: from, payments: payouts.filter(isSepa) })
        }),
      csv: ({ payouts }) => bankCsv(payouts),
    },
  }
}
