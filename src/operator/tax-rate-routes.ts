import { Type } from 'typebox'
import { CsvFormat, type Columns, listOf, sendCsv, wantsCsv } from '../kit/csv.ts'
import type { Server } from '../kit/http.ts'
import { refusing } from '../kit/schema.ts'
import { listMissingRates } from '../taxes/profile.ts'
import { MOST_RATES, type TaxRate, listRates } from '../taxes/rates.ts'
import { HIDDEN } from './guard.ts'
import { type OperatorRouteParts, TAG } from './routes.ts'
import { loadRatesAsOperator } from './tax-rates.ts'

/** Room for `MOST_RATES`. */
const LARGEST_LOAD_BYTES = 1024 * 1024

const Day = Type.String({ maxLength: 10, description: 'A day of UTC, such as 2026-01-01.' })
const fields = {
  country: Type.String({ maxLength: 2, description: 'ISO 3166-1 alpha-2.' }),
  rate: Type.Number({ description: 'Percent, with at most three decimals.' }),
  validFrom: Day,
}
const Missing = Type.Array(Type.Object({ country: Type.String(), category: Type.String(), sellers: Type.Integer() }), {
  description: 'Rates that sellers need today and that are not loaded. Buyers there cannot buy from these sellers.',
})
const NewRates = Type.Object({
  items: Type.Array(
    Type.Object({
      ...fields,
      category: Type.Optional(Type.String({ maxLength: 40, description: '`standard` by default.' })),
      validTo: Type.Optional(
        Type.Union([Day, Type.Null()], { description: 'The last day. Null: until further notice.' }),
      ),
    }),
    { maxItems: MOST_RATES },
  ),
})
const Rates = Type.Object({
  items: Type.Array(Type.Object({ ...fields, category: Type.String(), validTo: Type.Union([Day, Type.Null()]) })),
  missing: Missing,
})
const Loaded = Type.Object({ rates: Type.Integer(), countries: Type.Integer(), missing: Missing })
const Query = Type.Object({
  format: CsvFormat,
})

/** The tax rates of the whole service. */
export function taxRateRoutes(server: Server, { db, operators }: OperatorRouteParts): void {
  server.get(
    '/api/operator/tax-rates',
    {
      config: HIDDEN,
      schema: {
        operationId: 'operatorTaxRates',
        summary: 'The loaded tax rates',
        description: 'With `Accept: text/csv` the response is a file in the form that `npm run operator -- tax-rates load` reads.', // oxfmt-ignore
        tags: TAG,
        querystring: Query,
        response: { 200: listOf(Rates, 'The rates.'), ...refusing() },
      },
    },
    async (request, reply) => {
      const items = await listRates(db)
      if (wantsCsv(request)) return sendCsv(request, reply, 'tax-rates', COLUMNS, onePage(items))
      return { items, missing: await listMissingRates(db) }
    },
  )

  server.put(
    '/api/operator/tax-rates',
    {
      config: HIDDEN,
      bodyLimit: LARGEST_LOAD_BYTES,
      schema: {
        operationId: 'operatorLoadTaxRates',
        summary: 'Replace the tax rates',
        description:
          'Needs a sign-in of the last ten minutes. The rates replace all that were loaded before, in one transaction. Orders keep the rate that they were made with. If one is wrong or two overlap, nothing changes.', // oxfmt-ignore
        tags: TAG,
        body: NewRates,
        response: { 200: Loaded, ...refusing('recent_sign_in_required', 'body_too_large') },
      },
    },
    async (request) => {
      const actor = operators.recently(request)
      const rates = request.body.items.map(({ category = 'standard', validTo = null, ...rate }, at) => ({
        place: `items/${at}`,
        ...rate,
        category,
        validTo,
      }))
      return loadRatesAsOperator(db, actor, rates)
    },
  )
}

async function* onePage(rates: TaxRate[]): AsyncGenerator<TaxRate[]> {
  yield rates
}

const COLUMNS: Columns<TaxRate> = {
  country: ({ country }) => country,
  category: ({ category }) => category,
  rate: ({ rate }) => rate,
  valid_from: ({ validFrom }) => validFrom,
  valid_to: ({ validTo }) => validTo,
}
