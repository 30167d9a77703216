import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makeKey, programWith } from '../support/keys.ts'
import { assertProblem, sharedShop } from '../support/shop.ts'
import { loadRates, rateOf, taxSeller } from './support.ts'

const shared = sharedShop()
before(() => loadRates(shared(), [rateOf('DE', 19), rateOf('DE', 7, { category: 'e-book' })]))

test('a profile is saved as a whole, read, and removed', async () => {
  const { browser } = await taxSeller(shared())
  const read = async () => (await browser.call('GET', '/api/tax/profile')).body
  assert.deepEqual(await read(), { profile: null, missingRates: [] })
  const whole = { country: 'DE', taxIds: ['DE136695976', '22/815/08154'], oss: false, exempt: false, prices: 'exclusive', category: 'e-book' } // oxfmt-ignore
  assert.deepEqual((await browser.call('PUT', '/api/tax/profile', whole)).body, { profile: whole, missingRates: [] })
  assert.deepEqual((await read()).profile, whole)
  const least = { country: 'DE', prices: 'inclusive' }
  await browser.call('PUT', '/api/tax/profile', least)
  assert.deepEqual((await read()).profile, { ...least, taxIds: [], oss: false, exempt: false, category: 'standard' })
  for (let i = 0; i < 2; i++) assert.equal((await browser.call('DELETE', '/api/tax/profile')).body.profile, null)
  assert.equal((await read()).profile, null)
})

test('a seller’s own VAT number is checked by its digits, by the country that it names', async () => {
  const { browser } = await taxSeller(shared())
  const save = (country: string, id: string) =>
    browser.call('PUT', '/api/tax/profile', { country, prices: 'inclusive', exempt: true, taxIds: [id] })
  for (const [country, id] of [
    ['DE', 'DE136695977'],
    ['DE', 'FR40303265046'],
    ['DE', 'GB123456789'],
    ['AU', '83914571674'],
    ['IN', '27AAPFU0939F1ZW'],
  ] as const)
    // oxfmt-ignore
    assertProblem(await save(country, id), 422, 'tax_id_invalid')
  assert.equal((await browser.call('GET', '/api/tax/profile')).body.profile, null)
  for (const [country, id, kept] of [
    ['DE', 'de 136.695.976', 'DE136695976'],
    ['DE', 'FR40303265045', 'FR40303265045'],
    ['GR', '094259216', 'EL094259216'],
    ['DE', '22/815/08154', '22/815/08154'],
    ['GB', 'EU826012345', 'EU826012345'],
  ] as const)
    // oxfmt-ignore
    assert.deepEqual((await save(country, id)).body.profile?.taxIds, [kept])
})

test('a profile whose rates are missing is refused, and the one before stays', async () => {
  const { browser } = await taxSeller(shared(), { country: 'DE', prices: 'inclusive' })
  const put = (more: object) => browser.call('PUT', '/api/tax/profile', { country: 'DE', prices: 'inclusive', ...more })
  for (const more of [{ country: 'US' }, { oss: true }, { category: 'reduced' }]) {
    const refused = await put(more)
    assertProblem(refused, 409, 'tax_rate_missing')
    assert.match(refused.body.detail, /operator/)
  }
  assert.equal((await put({ country: 'US', exempt: true })).status, 200)
  assert.equal((await browser.call('GET', '/api/tax/profile')).body.profile.country, 'US')
})

test('a profile that cannot be right is refused', async () => {
  const { browser } = await taxSeller(shared())
  for (const wrong of [
    {},
    { country: 'DE' },
    { prices: 'inclusive' },
    { country: 'UK', prices: 'inclusive' },
    { country: 'de', prices: 'inclusive' },
    { country: 'EU', prices: 'inclusive' },
    { country: 'DE', prices: 'net' },
    { country: 'DE', prices: 'inclusive', taxIds: 'DE123' },
    { country: 'DE', prices: 'inclusive', taxIds: [''] },
    { country: 'DE', prices: 'inclusive', taxIds: ['<b>DE1'] },
    { country: 'DE', prices: 'inclusive', taxIds: Array.from({ length: 11 }, () => 'DE123456789') },
    { country: 'DE', prices: 'inclusive', category: 'A B' },
    { country: 'DE', prices: 'inclusive', oss: 'yes' },
  ])
    assertProblem(await browser.call('PUT', '/api/tax/profile', wrong), 400, 'validation_failed')
  assert.equal((await browser.call('GET', '/api/tax/profile')).body.profile, null)
})

test('a profile is its seller’s: strangers get nothing, and a key reads with balance:read and changes nothing', async () => {
  for (const method of ['GET', 'PUT', 'DELETE'])
    assertProblem(await shared().call(method, '/api/tax/profile', method === 'PUT' ? { country: 'DE', prices: 'inclusive' } : undefined), 401, 'not_signed_in') // oxfmt-ignore
  const { browser } = await taxSeller(shared(), { country: 'DE', prices: 'inclusive' })
  const reader = programWith(shared(), (await makeKey(browser, ['balance:read'])).secret)
  assert.equal((await reader.call('GET', '/api/tax/profile')).body.profile.country, 'DE')
  assertProblem(await reader.call('DELETE', '/api/tax/profile'), 403, 'key_not_accepted')
  const other = programWith(shared(), (await makeKey(browser, ['orders:read'])).secret)
  for (const path of ['/api/tax/profile', '/api/tax/report?period=2026'])
    assertProblem(await other.call('GET', path), 403, 'insufficient_scope')
})
