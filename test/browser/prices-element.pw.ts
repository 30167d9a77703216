import path from 'node:path'
import pg from 'pg'
import { findEmbedded } from '../../src/kit/embedded.ts'
import { expectPaid, payButton, shownOrderId } from './buyer.ts'
import { CARD, DECLINED, expect, intentOf, paidIntents, payBy, test, toForm } from './element-buyer.ts'

test('another currency gets a form of its own, which pays the order in this currency alone', async ({ page, shop }) => {
  const client = new pg.Client({ connectionString: findEmbedded(path.join(shop.dataDir, 'postgres')) })
  await client.connect()
  const productId = new URL(shop.demoUrl).searchParams.get('product')
  await client.query(
    `insert into product_prices (product_id, currency, price_minor, position) values ($1, 'JPY', 2500, 1)`,
    [productId],
  )
  await client.end()
  await toForm(page, shop)
  const ready = () => expect(page.locator('.form-place')).toHaveAttribute('data-stage', 'ready')
  await payBy(page, DECLINED)
  await expect(page.getByText('Your card was declined.').first()).toBeVisible()
  const first = await shownOrderId(page)
  await page.getByRole('combobox', { name: 'Price' }).selectOption('JPY')
  await expect(payButton(page)).toHaveText('Pay ¥2,500')
  await ready()
  await payBy(page, CARD)
  await expectPaid(page)
  const orderId = await shownOrderId(page)
  expect(orderId).not.toBe(first)
  expect(paidIntents(shop, first)).toHaveLength(0)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
  expect(intentOf(shop, orderId)).toMatchObject({ amount: 2500, currency: 'jpy' })
})
