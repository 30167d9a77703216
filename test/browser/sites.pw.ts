import { SIZES, expect, expectAccessible, expectFits, test } from './fixtures.ts'
import { signUp } from './seller.ts'

for (const [size, options] of Object.entries(SIZES)) {
  test.describe(size, () => {
    test.use(options)

    test('a seller adds a site, learns what is no site, and removes it', async ({ page }) => {
      await signUp(page)
      await page.goto('/shop/#/developers')
      const field = page.getByLabel('Host')
      const add = page.getByRole('button', { name: 'Add the site' })
      const list = page.getByRole('list', { name: 'Your sites' })
      await expect(page.getByText('No site yet.')).toBeVisible()
      await add.click()
      await expect(page.getByText('Name your site, such as shop.example.')).toBeVisible()
      await field.fill('*.github.io')
      await add.click()
      await expect(page.getByText('Names below github.io belong to many owners. Name yours.')).toBeVisible()
      await expect(field).toBeFocused()
      await expectAccessible(page, 'a fault')

      // people paste the whole text of the address bar
      await field.fill('https://Shop.example/books?page=2')
      await field.press('Enter')
      await expect(list.locator('code', { hasText: /^shop\.example$/ })).toBeVisible()
      await expect(field).toHaveValue('')
      await field.fill('*.shop.example')
      await add.click()
      await expect(list.getByRole('listitem')).toHaveCount(2)
      await expectAccessible(page, 'with sites')
      await expectFits(page, 'with sites')
      await page.getByRole('button', { name: 'Remove shop.example', exact: true }).click()
      await expect(list.getByRole('listitem')).toHaveCount(1)
      await expect(page.getByRole('heading', { name: 'Your sites' })).toBeFocused()
      await page.reload()
      await expect(list.locator('code', { hasText: '*.shop.example' })).toBeVisible()
    })
  })
}
