import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { before, test } from 'node:test'
import { isCountry } from '../../src/kit/country.ts'
import { readRates } from '../../src/taxes/rates.ts'
import { EU } from '../../src/taxes/sale-tax.ts'
import { OPERATOR, ageSignIns, logOf, operatorOf } from '../operator/support.ts'
import type { Browser } from '../support/seller.ts'
import { bareEnvironment } from '../support/service.ts'
import { SECRET, assertProblem, sharedShop } from '../support/shop.ts'
import { taxSeller } from './support.ts'

// The tax rates, which the operator loads as a whole.

const shared = sharedShop({ env: { OPERATORS: OPERATOR } })
const EXAMPLE = path.join(import.meta.dirname, '../../deploy/tax-rates.csv')
let ann: Browser
before(async () => {
  ann = await operatorOf(shared())
})
const put = (items: unknown) => ann.call('PUT', '/api/operator/tax-rates', { items })
const loaded = async () => (await ann.call('GET', '/api/operator/tax-rates')).body.items as { country: string }[]
const rate = (country: string, validFrom: string, validTo: string | null = null, more = {}) => ({
  country,
  rate: 19,
  validFrom,
  validTo,
  ...more,
})

function operator(...args: string[]) {
  const env = { ...bareEnvironment(), DATABASE_URL: shared().databaseUrl, DATA_DIR: shared().config.dataDir, SECRET }
  const script = path.join(import.meta.dirname, '../../scripts/operator.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'tax-rates', ...args], { env, encoding: 'utf8' }) // oxfmt-ignore
  return { status, out: stdout, err: stderr }
}

test('a load replaces all rates at once, and the log has it', async () => {
  const { status, body } = await put([
    rate('DE', '2007-01-01', '2020-06-30'),
    rate('DE', '2020-07-01', '2020-12-31', { rate: 16 }),
    rate('DE', '2021-01-01'),
    rate('DE', '2020-01-01', null, { category: 'e-book', rate: 7 }),
    rate('CH', '2024-01-01', null, { rate: 8.1 }),
  ])
  assert.deepEqual([status, body], [200, { rates: 5, countries: 2, missing: [] }])
  assert.equal((await loaded()).length, 5)
  assert.equal((await put([rate('FR', '2014-01-01', null, { rate: 20 })])).status, 200)
  assert.deepEqual(await loaded(), [{ country: 'FR', category: 'standard', rate: 20, validFrom: '2014-01-01', validTo: null }]) // oxfmt-ignore
  const [last] = await logOf(ann, 'tax-rates')
  assert.deepEqual([last!.actor, last!.action, last!.detail], [OPERATOR, 'tax_rates_loaded', { rates: 1, countries: 1, before: 5 }]) // oxfmt-ignore
})

test('overlapping periods and wrong rows are refused with their places, and nothing changes', async () => {
  await put([rate('FR', '2014-01-01')])
  const wrong: [items: unknown[], places: string[]][] = [
    [[rate('DE', '2020-01-01'), rate('DE', '2021-01-01')], ['items/1']],
    [[rate('DE', '2021-01-01'), rate('DE', '2020-01-01', '2021-01-01')], ['items/0']],
    [[rate('DE', '2020-01-01'), rate('DE', '2020-01-01')], ['items/1']],
    [
      [rate('UK', '2020-01-01'), rate('GB', '2020-01-01'), rate('de', '2020-01-01')],
      ['items/0', 'items/2'],
    ],
    [[rate('DE', '2020-02-30')], ['items/0']],
    [[rate('DE', '01.01.2020')], ['items/0']],
    [[rate('DE', '2020-01-01', '2019-12-31')], ['items/0']],
    [[rate('DE', '2020-01-01', null, { rate: 100 })], ['items/0']],
    [[rate('DE', '2020-01-01', null, { rate: -1 })], ['items/0']],
    [[rate('DE', '2020-01-01', null, { rate: 1.2345 })], ['items/0']],
    [[rate('DE', '2020-01-01', null, { category: 'E Book' })], ['items/0']],
  ]
  for (const [items, places] of wrong) {
    const refused = await put(items)
    assertProblem(refused, 400, 'validation_failed')
    assert.deepEqual(refused.body.fields.map(({ path: at }: { path: string }) => at), places, JSON.stringify(items)) // oxfmt-ignore
  }
  for (const items of [
    undefined,
    {},
    [{}],
    [rate('DE', '2020-01-01', null, { rate: '19' })],
    Array.from({ length: 5001 }, () => rate('DE', '2020-01-01')),
  ])
    // oxfmt-ignore
    assertProblem(await put(items), 400, 'validation_failed')
  assert.deepEqual((await loaded()).map(({ country }) => country), ['FR']) // oxfmt-ignore
})

test('simultaneous loads leave the rates of one of them', async () => {
  const loads = ['DE', 'FR', 'IT', 'ES', 'NL'].map((country) => put([rate(country, '2020-01-01'), rate('CH', '2020-01-01')])) // oxfmt-ignore
  for (const { status } of await Promise.all(loads)) assert.equal(status, 200)
  assert.equal((await loaded()).length, 2)
})

test('only operators load rates, after a sign-in of the last ten minutes', async () => {
  const { browser } = await taxSeller(shared())
  for (const method of ['GET', 'PUT'])
    assertProblem(await browser.call(method, '/api/operator/tax-rates', method === 'PUT' ? { items: [] } : undefined), 404, 'not_found') // oxfmt-ignore
  const late = await operatorOf(shared())
  await ageSignIns(shared(), late)
  assertProblem(await late.call('PUT', '/api/operator/tax-rates', { items: [] }), 403, 'recent_sign_in_required')
})

test('the command loads the example file, shows it in the same form, and names what sellers miss', async () => {
  const done = operator('load', EXAMPLE)
  assert.deepEqual([done.status, done.err], [0, ''])
  assert.match(done.out, /^32 rates of 32 countries are loaded/)
  await taxSeller(shared(), { country: 'DE', oss: true, prices: 'inclusive' })
  const file = path.join(shared().config.dataDir, 'rates.csv')
  const shown = operator('show').out
  fs.writeFileSync(file, shown)
  assert.deepEqual((await readRates(shown)).length, 32)
  const csv = await ann.call('GET', '/api/operator/tax-rates?format=csv')
  assert.equal(csv.body.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'), shown)
  fs.writeFileSync(file, shown.replace(/^FR,.*\n/m, ''))
  assert.match(operator('load', file).out, /Missing, and needed by 1: FR standard/)
  fs.writeFileSync(file, shown.replace(/^FR,/m, 'DE,'))
  const refused = operator('load', file)
  assert.equal(refused.status, 1)
  assert.match(refused.err, /Nothing was changed: line \d+ overlaps line \d+/)
  assert.equal(operator('load', '/no/such/file').status, 2)
})

test('a file that cannot be read names its line', async () => {
  const head = 'country,category,rate,valid_from,valid_to\n'
  for (const [text, place] of [
    ['', 'line 1'],
    ['country,rate\nDE,19\n', 'line 1'],
    [`${head}DE,standard,19\n`, 'line 2'],
    [`${head}DE,"standard,19,2020-01-01,\n`, 'line 2'],
  ] as const)
    await assert.rejects(readRates(text), (error: Error & { fields: { path: string }[] }) => error.fields[0]!.path === place, text) // oxfmt-ignore
})

test('the example has the EU and five more countries, each with one rate that is still valid', async () => {
  const rates = await readRates(fs.readFileSync(EXAMPLE, 'utf8'))
  assert.deepEqual(rates.map(({ country }) => country).toSorted(), [...EU, 'GB', 'CH', 'NO', 'IN', 'AU'].toSorted()) // oxfmt-ignore
  for (const one of rates) assert(isCountry(one.country) && one.rate > 0 && one.validTo === null, one.country)
})
