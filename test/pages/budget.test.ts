import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { LOCALES } from '../../src/kit/locales.ts'
import { catalogueOf } from '../../src/words/catalogues.ts'
import { inLanguage } from '../../src/words/in-html.ts'

const DIST = path.resolve(import.meta.dirname, '../../dist')
const KB = 1000
/** The compressed bytes that the payment page may cost a buyer on a phone. The script's count with the texts of one language. */
const BUDGET = { script: 25 * KB, style: 6 * KB }
/** The account is a page of the shop, with its frame, and no buyer loads it. */
const SELLERS_BUDGET = { 'sign-in/index.html': 20 * KB, 'account/index.html': 31 * KB }

const page = (file: string) => readFile(path.join(DIST, file), 'utf8')
const insides = (html: string, tag: RegExp) => [...html.matchAll(tag)].map(([, inside]) => inside!)
const SCRIPTS = /<script type="module">([\s\S]*?)<\/script>/g
const TEXTS = /(<script type="application\/json" id="till-words">[\s\S]*?<\/script>)/g
const STYLES = /<style>([\s\S]*?)<\/style>/g

/** The address of a later file in a script: its name, and whether there is one for each language. */
const LATER = /import\(`(?:\.\.\/assets|\.)\/([\w-]+)(\.\$\{tillPage\.language\})?\.js\$\{tillPage\.again\}`\)/g

test('the payment page is one file, within its budget', async () => {
  const html = await page('pay/index.html')
  const [scripts, styles] = [insides(html, SCRIPTS), insides(html, STYLES)]
  assert.equal(scripts.length, 1)
  assert.equal(styles.length, 1)
  const style = gzipSync(styles[0]!).length
  assert.ok(style <= BUDGET.style, `style: ${style} of ${BUDGET.style} bytes`)
  for (const locale of LOCALES) {
    const [texts] = insides(inLanguage(html, locale, await catalogueOf(locale)), TEXTS)
    const cost = gzipSync(scripts[0]! + texts).length
    assert.ok(cost <= BUDGET.script, `script with the words in ${locale}: ${cost} of ${BUDGET.script} bytes`)
  }
  assert.doesNotMatch(
    html.replace(SCRIPTS, ''),
    /<script[^>]*\ssrc=|<link[^>]*rel="(?:stylesheet|modulepreload|preload)"/,
  )
})

test('the pages for sellers are within their budgets, with all that they load', async () => {
  for (const [file, most] of Object.entries(SELLERS_BUDGET)) {
    const [entry] = insides(await page(file), /<script type="module"[^>]* src="\/assets\/([^"]+)"/g)
    const seen = new Map<string, number>()
    for (const queue = [entry!]; queue.length > 0;) {
      const asset = queue.pop()!
      if (seen.has(asset)) continue
      const script = await page(path.join('assets', asset))
      seen.set(asset, gzipSync(script).length)
      queue.push(...insides(script, /["'`]\.\/([\w.-]+\.js)["'`]/g))
    }
    assert.ok(seen.size > 2, 'its imports were checked too')
    const script = [...seen.values()].reduce((sum, size) => sum + size, 0)
    assert.ok(script <= most, `${file}: ${script} of ${most} bytes`)
  }
})

test('the files that the page loads later exist in each language, and need nothing else at once', async () => {
  const [script] = insides(await page('pay/index.html'), SCRIPTS)
  const seen = new Set<string>()
  for (const queue = [script!]; queue.length > 0;) {
    const text = queue.pop()!
    for (const [, name, language] of text.matchAll(LATER)) {
      if (seen.has(name!)) continue
      seen.add(name!)
      for (const locale of language ? LOCALES : ['']) {
        const file = await page(path.join('assets', `${name}${locale && `.${locale}`}.js`))
        assert.doesNotMatch(file, /\bimport\b\s*[^(]/, `${name} ${locale}`)
        queue.push(file)
      }
    }
    assert.equal([...text.matchAll(LATER)].length, text.split('import(').length - 1)
  }
  // `dist` draws the UPI code
  assert.deepEqual(Array.from(seen, (name) => name.slice(0, -9)).sort(), [
    'after-payment',
    'dist',
    'email-suggestion',
    'form-tools',
    'offer-part',
    'own-site',
    'razorpay-form',
    'sandbox-part',
    'stripe-form',
    'tax-part',
  ])
})

test('every page has the place for the data of the server, and nothing that its policy forbids', async () => {
  const files = (await readdir(DIST, { recursive: true })).filter((file) => file.endsWith('.html'))
  assert.deepEqual(files.sort(), [
    '404.html',
    'account/index.html',
    'charge/index.html',
    'index.html',
    'library/index.html',
    'operator/index.html',
    'order/index.html',
    'outbox/index.html',
    'pay/index.html',
    'pricing/index.html',
    'shop/index.html',
    'sign-in/index.html',
    'withdraw/index.html',
  ])
  for (const file of files) {
    const html = await page(file)
    assert.equal(
      html.split('<script type="application/json" id="till-data"></script>').length,
      2,
      `${file}: the data element`,
    )
    const markup = html.replace(SCRIPTS, '').replace(STYLES, '')
    assert.doesNotMatch(markup, /\son\w+=|\sstyle=|javascript:/i, `${file}: inline handlers and styles`)
    assert.doesNotMatch(markup, /(?:src|href)="(?:https?:)?\/\//, `${file}: files of other hosts`)
  }
})
