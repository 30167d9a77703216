import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registerAsker } from '../../src/tax-ids/vies.ts'
import { startVies } from '../stand-ins/vies.ts'

const GERMAN = { country: 'DE', taxId: 'DE136695976' }

test('a plain yes and a plain no of VIES are taken, with the consultation number for the seller who asked', async (t) => {
  const vies = await startVies(t)
  const ask = registerAsker(vies.url)
  assert.deepEqual(await ask(GERMAN), { state: 'valid' })
  const seller = { sellerId: 'sel_1', country: 'GR', taxId: 'EL094259216' }
  assert.deepEqual(await ask(GERMAN, seller), { state: 'valid', consultation: 'WAPIAAAAYx2lVQnO' })
  vies.state.weather = 'invalid'
  assert.deepEqual(await ask(GERMAN), { state: 'invalid' })
  const path = '/rest-api/check-vat-number'
  assert.deepEqual(vies.asked.slice(0, 2), [
    { path, countryCode: 'DE', vatNumber: '136695976' },
    { path, countryCode: 'DE', vatNumber: '136695976', requesterMemberStateCode: 'EL', requesterNumber: '094259216' },
  ])
})

test('a seller’s own number that VIES does not know is left out, and the log says whose it is, without the number', async (t) => {
  const vies = await startVies(t)
  const logged: unknown[] = []
  const ask = registerAsker(vies.url, { log: { warn: (...line: unknown[]) => void logged.push(line) } })
  vies.state.weather = 'stranger'
  const seller = { sellerId: 'sel_1', country: 'FR', taxId: 'FR40303265045' }
  assert.deepEqual(await ask(GERMAN, seller), { state: 'valid' })
  const path = '/rest-api/check-vat-number'
  const german = { path, countryCode: 'DE', vatNumber: '136695976' }
  const asking = { requesterMemberStateCode: 'FR', requesterNumber: '40303265045' }
  assert.deepEqual(vies.asked, [{ ...german, ...asking }, german])
  assert.deepEqual(logged, [
    [{ sellerId: 'sel_1' }, 'VIES does not know the VAT number of the seller, and is asked without it'],
  ])
})

test('a VIES that is away, busy, down, confused or silent says nothing about the number', async (t) => {
  const vies = await startVies(t)
  const ask = registerAsker(vies.url)
  for (const weather of ['away', 'busy', 'down', 'nonsense', 'another'] as const) {
    vies.state.weather = weather
    assert.deepEqual(await ask(GERMAN), { state: 'unavailable' }, weather)
  }
  // a wait that ends sooner than the real one
  const hasty = registerAsker(vies.url, {
    fetchIt: (address, init) => fetch(address, { ...init, signal: AbortSignal.timeout(100) }),
  })
  vies.state.weather = 'late'
  assert.deepEqual(await hasty(GERMAN), { state: 'unavailable' })
  vies.server.closeAllConnections()
  vies.server.close()
  assert.deepEqual(await ask(GERMAN), { state: 'unavailable' })
})

test('a number of a country that VIES does not know, a wrong number, or no address: VIES is not asked', async (t) => {
  const vies = await startVies(t)
  const ask = registerAsker(vies.url)
  for (const asked of [
    { country: 'GB', taxId: 'GB980780684' },
    { country: 'IN', taxId: '27AAPFU0939F1ZV' },
    { country: 'DE', taxId: 'DE136695977' },
  ])
    assert.deepEqual(await ask(asked), { state: 'unchecked' })
  assert.deepEqual(await registerAsker(undefined)(GERMAN), { state: 'unchecked' })
  assert.deepEqual(vies.asked, [])
})

test('of very many questions at once VIES gets ten, and the others are not answered with a yes', async () => {
  const answers: (() => void)[] = []
  const body = JSON.stringify({ valid: true, countryCode: 'DE', vatNumber: '136695976' })
  const ask = registerAsker('http://vies.test', {
    fetchIt: () => {
      const { promise, resolve } = Promise.withResolvers<Response>()
      answers.push(() => resolve(new Response(body)))
      return promise
    },
  })
  const asked = Array.from({ length: 12 }, () => ask(GERMAN))
  for (const answer of answers) answer()
  const states = (await Promise.all(asked)).map(({ state }) => state)
  assert.deepEqual(states, [...Array.from({ length: 10 }, () => 'valid'), 'unavailable', 'unavailable'])
  const next = ask(GERMAN)
  answers.at(-1)!()
  assert.equal((await next).state, 'valid')
})
