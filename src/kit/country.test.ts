import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countryFinder, headerName, isCountry } from './country.ts'

const request = (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
  ({ headers, socket: { remoteAddress } }) as never

test('the code of a country is two capitals that name one', () => {
  for (const code of ['DE', 'IN', 'GB', 'XK', 'US']) assert.equal(isCountry(code), true, code)
  for (const code of ['EU', 'XX', 'T1', 'ZZ', 'UK', 'DD', 'de', 'DEU', '']) assert.equal(isCountry(code), false, code)
})

test('our proxy’s header names the country, and the language only guesses it', () => {
  const find = countryFinder('cf-ipcountry', 'loopback')
  assert.deepEqual(find(request({ 'cf-ipcountry': 'in', 'accept-language': 'de-DE' })), {
    country: 'IN',
    from: 'proxy',
  })
  assert.deepEqual(find(request({ 'accept-language': 'zh-Hant-TW,en;q=0.8' })), { country: 'TW', from: 'language' })
})

test('a header counts only from our proxy, and only with a country in it', () => {
  const find = countryFinder('cf-ipcountry', 'loopback')
  const forged = { 'cf-ipcountry': 'IN', 'accept-language': 'de-AT' }
  assert.deepEqual(find(request(forged, '203.0.113.9')), { country: 'AT', from: 'language' })
  assert.deepEqual(countryFinder('cf-ipcountry', false)(request(forged)), { country: 'AT', from: 'language' })
  assert.deepEqual(countryFinder(undefined, 'loopback')(request(forged)), { country: 'AT', from: 'language' })
  for (const unknown of ['XX', 'T1', '', 'IN, DE'])
    assert.equal(find(request({ 'cf-ipcountry': unknown, 'accept-language': 'de' })), undefined, unknown)
})

test('a language without a region, or none, tells no country', () => {
  const find = countryFinder(undefined, false)
  for (const language of ['de', 'es-419', '*', '', 'zh-Hans'])
    assert.equal(find(request({ 'accept-language': language })), undefined)
  assert.equal(find(request({})), undefined)
})

test('a setting that is no name of a header is refused', () => {
  assert.equal(headerName('CF-IPCountry'), 'cf-ipcountry')
  for (const wrong of ['x y', 'a:b', '-x', 'x']) assert.equal(headerName(wrong), undefined, wrong)
})
