import { useState } from 'preact/hooks'
import { money, percent } from '../../ui/format.ts'
import { LOCALE } from '../../ui/language.ts'
import { get } from '../api.ts'
import { useLoad } from '../load.ts'
import { CsvLink } from '../orders/csv-link.tsx'
import { Shown } from '../parts.tsx'
import type { Report } from '../../../src/taxes/schema.ts'

const countryNames = new Intl.DisplayNames(LOCALE, { type: 'region' })
const TREATMENTS: Record<Report['items'][number]['treatment'], string> = {
  domestic: 'Your country’s tax',
  oss: 'One-stop-shop',
  reverse_charge: 'Reverse charge',
  outside: 'Outside your taxes',
  exempt: 'Exempt',
}

/** The tax of a period, for the seller's own filing. Who has no tax profile and had no tax sees nothing. */
export function TaxPart() {
  const hasAny = useLoad('tax-any', hasTax)
  return <Shown of={hasAny}>{(has) => has && <Taxes />}</Shown>
}

function Taxes() {
  const [period, setPeriod] = useState(() => periods()[0]!)
  const report = useLoad(`tax ${period}`, () => get<Report>('tax/report', { period }))
  return (
    <section class="stack" aria-labelledby="tax">
      <div class="head">
        <h2 id="tax">Tax</h2>
        <CsvLink path="tax/report" query={{ period }} name={`tax-${period}.csv`} />
      </div>
      <p class="soft small">
        This service is not the merchant of record and files nothing: you owe the tax, and file it yourself.
      </p>
      <div class="field">
        <label for="tax-period">Period</label>
        <select id="tax-period" value={period} onChange={(event) => setPeriod(event.currentTarget.value)}>
          {periods().map((one) => (
            <option key={one} value={one}>
              {one.replace('-', ' ')}
            </option>
          ))}
        </select>
      </div>
      <Shown of={report}>
        {({ items }) => (items.length > 0 ? <Lines items={items} /> : <p>There was no tax in this period.</p>)}
      </Shown>
    </section>
  )
}

const Lines = ({ items }: Pick<Report, 'items'>) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- on a phone it scrolls, also by the keyboard
  <section class="wide-table" tabIndex={0} aria-label="Tax by country and rate">
    <table>
      <thead>
        <tr>
          <th scope="col">Country</th>
          <th scope="col">Rate</th>
          <th scope="col">Orders</th>
          <th scope="col">Net</th>
          <th scope="col">Tax</th>
          <th scope="col">Returned</th>
          <th scope="col">Tax due</th>
        </tr>
      </thead>
      <tbody>
        {items.map((one) => (
          <tr key={`${one.country} ${one.rate} ${one.treatment} ${one.currency}`}>
            <th scope="row">
              {countryNames.of(one.country)} <span class="soft small">{TREATMENTS[one.treatment]}</span>
            </th>
            <td>{percent(one.rate)}</td>
            <td>{one.orders}</td>
            <td>{money(one.net, one.currency)}</td>
            <td>{money(one.tax, one.currency)}</td>
            <td>{money(one.returnedGross, one.currency)}</td>
            <td>{money(one.dueTax, one.currency)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

/** Without a profile the tax of earlier periods is still to be filed. The years have all quarters that the page lists. */
async function hasTax(): Promise<boolean> {
  const { profile } = await get<{ profile: object | null }>('tax/profile')
  if (profile) return true
  const years = new Set(periods().map((period) => period.slice(0, 4)))
  const reports = await Promise.all([...years].map((period) => get<Report>('tax/report', { period })))
  return reports.some(({ items }) => items.length > 0)
}

/** This quarter and the seven before it, then this year and the last one, in UTC. */
function periods(): string[] {
  const now = new Date()
  const year = now.getUTCFullYear()
  const last = year * 4 + Math.floor(now.getUTCMonth() / 3)
  const quarters = Array.from(
    { length: 8 },
    (_, back) => `${Math.floor((last - back) / 4)}-Q${((last - back) % 4) + 1}`,
  )
  return [...quarters, String(year), String(year - 1)]
}
