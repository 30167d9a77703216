import assert from 'node:assert/strict'
import { test } from 'node:test'

test('a tax rate has up to three decimals, as in the mails and documents', async (t) => {
  const page = {
    documentElement: { lang: 'en' },
    getElementById: () => ({ textContent: '{}' }),
    querySelector: () => null,
  }
  // other files of tests may run in this process
  t.after(() => Reflect.deleteProperty(globalThis, 'document'))
  Object.assign(globalThis, { document: page })
  const { percent } = await import('./format.ts')
  assert.deepEqual([8.875, 8.1, 20, 0].map(percent), ['8.875%', '8.1%', '20%', '0%'])
})
