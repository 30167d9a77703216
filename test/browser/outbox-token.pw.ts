import { SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { type Service, startService } from './service.ts'

let service: Service

test.beforeAll(async () => {
  service = await startService({ DEMO_ON_NETWORK: '1' })
})
test.afterAll(() => service?.stop())
test.beforeEach(({ watch }) => watch.allow(service.url))

test('the outbox of a demo on a network opens with its address, and asks for it otherwise', async ({ browser }) => {
  const stranger = await browser.newContext(SIZES.phone)
  const asked = await stranger.newPage()
  await asked.goto(`${service.url}/outbox/`)
  await expect(asked.getByRole('alert')).toContainText('the service printed when it started')
  await expect(asked.getByRole('searchbox')).toHaveCount(0)
  await expectAccessible(asked, 'outbox, without its token')
  await expectFits(asked, 'outbox, without its token')

  const operator = await browser.newContext(SIZES.desktop)
  const page = await operator.newPage()
  await page.goto(service.outboxUrl)
  await expect(page.getByText('No mail yet.')).toBeVisible()
  expect(page.url(), 'the token is not left in the address').toBe(`${service.url}/outbox/`)
  const later = await operator.newPage()
  await later.goto(`${service.url}/outbox/?to=bob@example.com`)
  await expect(later.getByText('No mail yet.')).toBeVisible()
  await Promise.all([stranger.close(), operator.close()])
})
