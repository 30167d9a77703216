import {
  expectNoPayButton,
  expectPaid,
  makeOrder,
  newEmail,
  payButton,
  requestsTo,
  sayNothing,
  shownOrderId,
} from './buyer.ts'
import {
  BROKEN,
  CARD,
  CHALLENGED,
  REDIRECTED,
  bankPage,
  expect,
  fill,
  intentOf,
  paidIntents,
  payBy,
  press,
  test,
  toForm,
  toOrder,
} from './element-buyer.ts'

test('without a notification the page finds out itself that the order is paid', async ({ page, shop }) => {
  shop.server.knobs.notify = 'never'
  await toForm(page, shop)
  await payBy(page, CARD)
  await expectPaid(page)
})

test('the answer is lost after the payment was made: nothing is offered, then it is paid', async ({
  page,
  shop,
  stripe,
}) => {
  shop.server.knobs.notify = 'never'
  const { orderId } = await toOrder(page, shop)
  stripe.faults.confirm = 'lost'
  const release = await sayNothing(page)
  await payBy(page, CARD)
  await expect(page.getByRole('heading', { name: 'Checking with your bank' })).toBeVisible()
  await expectNoPayButton(page)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Checking with your bank' })).toBeVisible()
  await expectNoPayButton(page)
  release()
  await expectPaid(page)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('after a failure at the processor the page asks for the result, and offers another try', async ({
  page,
  shop,
}) => {
  await toForm(page, shop)
  const release = await sayNothing(page)
  await payBy(page, BROKEN)
  await expect(page.getByRole('heading', { name: 'Checking with your bank' })).toBeVisible()
  await expectNoPayButton(page)
  release()
  await expect(page.getByText('Nothing has been paid so far.')).toBeVisible()
  await payBy(page, CARD)
  await expectPaid(page)
})

test('a payment without a report: the next visit shows it as paid, and asks for no payment', async ({ page, shop }) => {
  shop.server.knobs.notify = 'never'
  const { orderId } = await toOrder(page, shop)
  shop.bank.confirm(intentOf(shop, orderId)['id'])
  // The first status does not know of the payment. For a while the page has only the failed form.
  const held = Promise.withResolvers<void>()
  let asked = 0
  await page.route('**/status?*', async (route) => {
    if (++asked > 1) await held.promise
    await route.continue()
  })
  await page.reload()
  await expect.poll(() => asked).toBe(2)
  await expect(page.getByRole('heading', { name: 'Paid. It’s yours.' })).toBeVisible()
  await expect(page.getByText('Not open for payments')).toHaveCount(0)
  held.resolve()
  await expectPaid(page)
  expect(await shownOrderId(page)).toBe(orderId)
})

test('the form does not appear because the payment was made: the page asks the processor', async ({
  page,
  shop,
  stripe,
}) => {
  shop.server.knobs.notify = 'never'
  const { promise: scriptAfter, resolve: release } = Promise.withResolvers<void>()
  stripe.faults.scriptAfter = scriptAfter
  await page.goto(shop.demoUrl, { waitUntil: 'domcontentloaded' })
  await makeOrder(page, newEmail(), shop.demoUrl)
  await expect(page.getByText(/Loading the payment form…|still on its way/)).toBeVisible()
  shop.bank.confirm(intentOf(shop, await shownOrderId(page))['id'])
  release()
  await expectPaid(page)
})

test('a double click pays once', async ({ page, shop, stripe }) => {
  const { orderId } = await toOrder(page, shop)
  const { promise: confirmAfter, resolve: release } = Promise.withResolvers<void>()
  stripe.faults.confirmAfter = confirmAfter
  shop.server.knobs.notify = 'held'
  await fill(page, CARD)
  await press(page, 'dblclick')
  await expect(page.getByRole('button', { name: 'Confirming your payment…' })).toBeVisible()
  await expectNoPayButton(page)
  release()
  await expectPaid(page)
  expect(stripe.confirms).toHaveLength(1)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('the shop hears of the payment first: the page turns to paid while the form still waits', async ({
  page,
  shop,
  stripe,
}) => {
  await toForm(page, shop)
  const { promise: confirmAfter, resolve: release } = Promise.withResolvers<void>()
  stripe.faults.confirmAfter = confirmAfter
  await payBy(page, CARD)
  await expectPaid(page)
  await page.getByRole('button', { name: 'Buy another copy' }).click()
  await expect(payButton(page)).toBeVisible()
  const answered = page.waitForResponse(/api\.stripe\.com/)
  release()
  await answered
  // the late answer is of the first payment: the second one is made as any other
  await page.getByLabel('E-mail').fill(newEmail())
  await payBy(page, CARD)
  await expectPaid(page)
  expect(stripe.confirms).toHaveLength(2)
})

test('a second tab follows the one in which the buyer is at the bank, and does not offer to pay', async ({
  page,
  context,
  shop,
}) => {
  const { orderId } = await toOrder(page, shop)
  const other = await context.newPage()
  await other.goto(shop.demoUrl)
  await expect(payButton(other)).toBeVisible()
  const synced = other.waitForResponse(/sync=1/)
  await payBy(page, CHALLENGED)
  await expect(bankPage(page).getByRole('link', { name: 'Approve' })).toBeVisible()
  await expectNoPayButton(other)
  await synced
  // the page asks again only after it has taken the answer
  await other.waitForRequest(/\/status/)
  await expectNoPayButton(other)
  await expect(bankPage(page).getByRole('link', { name: 'Approve' })).toBeVisible()
  await bankPage(page).getByRole('link', { name: 'Approve' }).click()
  await expectPaid(page)
  await expectPaid(other)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('a tab that does not know of the payment in another one cannot take the money again', async ({
  page,
  context,
  shop,
}) => {
  const { orderId } = await toOrder(page, shop)
  const other = await context.newPage()
  await other.addInitScript(() => addEventListener('storage', (event) => event.stopImmediatePropagation(), true))
  await other.goto(shop.demoUrl)
  await expect(payButton(other)).toBeVisible()
  // The other tab asks the service every few seconds, and may not hear of the payment before its own press.
  const release = await sayNothing(other)
  await payBy(page, CARD)
  await expectPaid(page)
  await payBy(other, CARD)
  release()
  await expectPaid(other)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('a reload during 3-D Secure: the page offers nothing before it has asked the processor', async ({
  page,
  shop,
}) => {
  const { orderId } = await toOrder(page, shop)
  await payBy(page, CHALLENGED)
  await expect(bankPage(page).getByRole('link', { name: 'Approve' })).toBeVisible()
  const asked = requestsTo(page, /\/status$/)
  const release = await sayNothing(page)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Checking with your bank' })).toBeVisible()
  await expectNoPayButton(page)
  release()
  await expect(page.getByText('Nothing has been paid so far.')).toBeVisible()
  expect(asked.some((request) => request.url().includes('sync=1'))).toBe(true)
  await payBy(page, CARD)
  await expectPaid(page)
  expect(await shownOrderId(page)).toBe(orderId)
})

test('the page is closed during 3-D Secure, and the bank says yes: the next visit finds it paid', async ({
  page,
  context,
  shop,
}) => {
  const { orderId } = await toOrder(page, shop)
  await payBy(page, CHALLENGED)
  await expect(bankPage(page).getByRole('link', { name: 'Approve' })).toBeVisible()
  await page.close()
  shop.server.knobs.notify = 'never'
  const intent = intentOf(shop, orderId)
  shop.bank.confirm(intent['id'])
  const later = await context.newPage()
  await later.goto(shop.demoUrl)
  await expectNoPayButton(later)
  await expectPaid(later)
})

test('the back button from the bank’s page: the page asks the processor, then the buyer can choose again', async ({
  page,
  shop,
}) => {
  const { orderId } = await toOrder(page, shop)
  await payBy(page, REDIRECTED)
  await expect(page.getByRole('link', { name: 'Approve' })).toBeVisible()
  await page.goBack()
  await expect(page.getByText('Nothing has been paid so far.')).toBeVisible()
  expect(await shownOrderId(page)).toBe(orderId)
  await payBy(page, CARD)
  await expectPaid(page)
  expect(paidIntents(shop, orderId)).toHaveLength(1)
})

test('a page from the back-forward cache asks the service before it offers anything', async ({ page, shop }) => {
  await toForm(page, shop)
  await payBy(page, CHALLENGED)
  await expect(bankPage(page).getByRole('link', { name: 'Approve' })).toBeVisible()
  // Chromium restores a page from its cache with the old screen and this event.
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await expect(page.getByText('Nothing has been paid so far.')).toBeVisible()
  await expect(payButton(page)).toBeVisible()
})

test('a forged return address shows nothing as paid, and changes nothing', async ({ page, shop }) => {
  const { orderId } = await toOrder(page, shop)
  for (const order of [`&order=${orderId}`, '']) {
    await page.goto(
      `${shop.demoUrl}${order}&payment_intent=pi_1&payment_intent_client_secret=pi_1_secret_2&redirect_status=succeeded`,
    )
    await expect(payButton(page)).toBeVisible()
    expect(page.url()).toBe(shop.demoUrl)
    expect(await shownOrderId(page)).toBe(orderId)
  }
  await page.goto(`${shop.demoUrl}&order="><script>alert(1)</script>&redirect_status=succeeded`)
  await expect(payButton(page)).toBeVisible()
  await payBy(page, CARD)
  await expectPaid(page)
})

test('coming back from the bank in another browser leads to the order’s own page, not to a second purchase', async ({
  page,
  shop,
}) => {
  const orderId = `ord_${'0'.repeat(26)}`
  const asked = requestsTo(page, /\/status$/)
  await page.goto(`${shop.demoUrl}&order=${orderId}&payment_intent=pi_1&redirect_status=succeeded`)
  await page.waitForURL(`${shop.url}/order/?order=${orderId}`, { waitUntil: 'commit' })
  // The service knows no such order. Another try would not change that.
  expect(asked).toHaveLength(1)
})

test('coming back from the bank while the service does not answer leads to the order’s own page after ten looks', async ({
  page,
  shop,
}) => {
  const orderId = `ord_${'0'.repeat(26)}`
  await page.clock.install()
  const asked = requestsTo(page, /\/status$/)
  await page.route('**/status?**', (route) => route.abort())
  await page.goto(`${shop.demoUrl}&order=${orderId}&redirect_status=succeeded`)
  const arrived = page.waitForURL(`${shop.url}/order/?order=${orderId}`, { waitUntil: 'commit' })
  for (let looks = 1; looks <= 10; looks++) {
    await expect.poll(() => asked.length).toBeGreaterThanOrEqual(looks)
    await page.clock.runFor(2_000)
  }
  await arrived
  expect(asked).toHaveLength(10)
})
