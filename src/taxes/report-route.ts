import { type Columns, Decimal, listOf, sendCsv, wantsCsv } from '../kit/csv.ts'
import type { Server } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { needs } from '../sellers/guard.ts'
import { TAG, type TaxParts } from './profile-routes.ts'
import { type TaxLine, taxPeriodOf, taxReport } from './report.ts'
import { Report, ReportQuery } from './schema.ts'

const DAY_MS = 86_400_000

/** The seller's tax by country and rate. */
export function reportRoute(server: Server, { db, browsers }: TaxParts): void {
  server.get(
    '/api/tax/report',
    {
      schema: {
        operationId: 'getTaxReport',
        summary: 'The tax of a year, a quarter or a month',
        description:
          'By country, rate, treatment and currency. A sale counts when it was paid, and what went back when it went back. This service is not the merchant of record and files nothing. With `Accept: text/csv` the response is a file.', // oxfmt-ignore
        tags: TAG,
        security: needs('balance:read'),
        querystring: ReportQuery,
        response: { 200: listOf(Report, 'The lines of the report.'), ...refusing() },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.caller(request, reply)
      const { period } = request.query
      const { from, to } = taxPeriodOf(period)
      const lines = await taxReport(db, seller.id, { from, to })
      if (wantsCsv(request)) return sendCsv(request, reply, `tax-${period}`, columnsOf(period), onePage(lines))
      const day = (at: Date) => at.toISOString().slice(0, 10)
      return { period, from: day(from), to: day(new Date(to.getTime() - DAY_MS)), items: lines.map(lineView) }
    },
  )
}

async function* onePage(lines: TaxLine[]): AsyncGenerator<TaxLine[]> {
  yield lines
}

function lineView({ grossMinor, taxMinor, returnedGrossMinor, returnedTaxMinor, ...line }: TaxLine) {
  const netMinor = grossMinor - taxMinor
  return {
    ...line,
    gross: grossMinor,
    tax: taxMinor,
    net: netMinor,
    returnedGross: returnedGrossMinor,
    returnedTax: returnedTaxMinor,
    dueNet: netMinor - (returnedGrossMinor - returnedTaxMinor),
    dueTax: taxMinor - returnedTaxMinor,
  }
}

function columnsOf(period: string): Columns<TaxLine> {
  const amount = (name: keyof ReturnType<typeof lineView>) => (line: TaxLine) =>
    new Decimal(Number(lineView(line)[name]), line.currency)
  return {
    period: () => period,
    country: ({ country }) => country,
    rate: ({ rate }) => rate,
    treatment: ({ treatment }) => treatment,
    currency: ({ currency }) => currency,
    orders: ({ orders }) => orders,
    net: amount('net'),
    tax: amount('tax'),
    gross: amount('gross'),
    returned_gross: amount('returnedGross'),
    returned_tax: amount('returnedTax'),
    due_net: amount('dueNet'),
    due_tax: amount('dueTax'),
  }
}
