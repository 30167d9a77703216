import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { LOCALES, type Locale } from '../../src/kit/locales.ts'
import { type Catalogue, catalogueOf } from '../../src/words/catalogues.ts'
import { en } from '../../src/words/en.ts'
import { inLanguage, wordsScript } from '../../src/words/in-html.ts'
import { say } from '../../src/words/say.ts'

type Texts = Record<string, Record<string, string | Record<string, string>>>

const placesIn = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].sort()
/** The texts of a catalogue with their names. A plural has one for each of its forms. */
const textsOf = (catalogue: Catalogue): [name: string, text: string][] =>
  Object.entries(catalogue as Texts).flatMap(([part, words]) =>
    Object.entries(words).flatMap(([name, text]): [string, string][] =>
      typeof text === 'string'
        ? [[`${part}.${name}`, text]]
        : Object.entries(text).map(([form, one]) => [`${part}.${name}.${form}`, one]),
    ),
  )

test('each language says everything, with the same values in it as in English', async () => {
  for (const locale of LOCALES) {
    const texts = textsOf(await catalogueOf(locale))
    assert.ok(texts.length > 150)
    for (const [name, text] of texts) {
      const [part = '', word = ''] = name.split('.')
      const english = (en as Texts)[part]![word]!
      assert.equal(text, text.trim(), `${locale} ${name}`)
      assert.notEqual(text, '', `${locale} ${name}`)
      assert.deepEqual(
        placesIn(text),
        placesIn(typeof english === 'string' ? english : english.other!),
        `${locale} ${name}`,
      )
    }
  }
})

test('no language has kept an English sentence', async () => {
  const english = new Set(textsOf(en).flatMap(([, text]) => (/\w \w/.test(text) ? [text] : [])))
  // names of products
  for (const name of ['Apple Pay', 'Google Pay']) english.delete(name)
  for (const locale of LOCALES.filter((one) => one !== 'en'))
    for (const [name, text] of textsOf(await catalogueOf(locale)))
      assert.ok(!english.has(text), `${locale} ${name}: ${text}`)
})

test('a plural has all the forms that its language needs', async () => {
  for (const locale of LOCALES) {
    const { pluralCategories } = new Intl.PluralRules(locale).resolvedOptions()
    for (const [part, words] of Object.entries((await catalogueOf(locale)) as Texts))
      for (const [name, text] of Object.entries(words))
        if (typeof text !== 'string')
          assert.deepEqual(Object.keys(text).sort(), pluralCategories.toSorted(), `${locale} ${part}.${name}`)
  }
})

const SELLERS =
  /seller|Anbieter|vendeur|vendedor|venditore|verkoper|sprzedawc|satıcı|販売者|판매자|卖家|विक्रेता|penjual|البائع|המוכר/

test('no language promises a buyer that the files come back whatever becomes of the dispute', async () => {
  // they stay away after a lost one, so the last sentence says for whom it has to be decided, and telling the bank is another sentence
  for (const locale of LOCALES) {
    const { disputedText } = (await catalogueOf(locale)).pay
    const sentences = disputedText.match(/[^.?\u061f\u3002\u0964]+[.?\u061f\u3002\u0964]/g)
    assert.equal(sentences?.length, 4, `${locale}: ${disputedText}`)
    assert.match(sentences[3]!, SELLERS, locale)
  }
})

test('no language says of an invoice that its days are over: that money went back refuses details too', async () => {
  for (const locale of LOCALES) assert.doesNotMatch((await catalogueOf(locale)).invoice.over, /30/, locale)
})

/** Banks, and money that a seller refunds, in the languages that have a word of their own for it. */
const BANK_OR_REFUND =
  /bank|banque|banco|banca|銀行|은행|银行|बैंक|بنك|בנק|refund|erstatt|rembours|reembols|rimbors|terugbeta|zwróc|iade|返金|환불|退还/i

test('no language says of a second payment that a bank made it, or that it was refunded', async () => {
  // the usual cause is a buyer with two tabs, and what goes back was never the seller's
  for (const locale of LOCALES) {
    const { pay, order, mail } = await catalogueOf(locale)
    const [arrived] = mail.twiceText.split(/[.\u3002\u0964]/)
    for (const text of [pay.twice, pay.twiceText, order.newsDuplicate, order.didDuplicate, mail.twiceTitle, arrived!])
      assert.doesNotMatch(text, BANK_OR_REFUND, `${locale}: ${text}`)
  }
})

test('no language says that an order was returned, or that a refund is why a part of the price came back', async () => {
  // a bank can have taken that part in a dispute
  const refund = /refund|erstatt|rembours|reembols|rimbors|terugbeta|返金|환불/i
  for (const locale of LOCALES) {
    const { order, charge, library } = await catalogueOf(locale)
    for (const text of [order.partlyRefunded, order.partlyRefundedText, charge.partlyRefunded, library.partly])
      assert.doesNotMatch(text, refund, `${locale}: ${text}`)
    const texts = [order.refundedTitle, order.partlyRefunded, charge.refunded, charge.partlyRefunded, library.partly]
    for (const text of texts) assert.doesNotMatch(text, /^(To zamówienie|Zwrócone$|Bu sipariş iade|ההזמנה הזאת הוחזרה)|zwrócone$/, text) // oxfmt-ignore
  }
})

/** Words for which a language has another one everywhere else, and phrases that say something else than was meant. */
const STRAY: Partial<Record<Locale, RegExp>> = {
  id: /laporan rekening|berkas|peramban/i,
  tr: /hesap özet|geri çekildi|artık yok/i,
  // the underscore of `ord_` goes to the wrong side without a mark
  ar: /مصرفك|المصرف(?!ي)|ord_[^\u200e]/,
  he: /ord_[^\u200e]|הוסיפו|שלמו|תחויב/,
  // a fee
  hi: /खरीद|शुल्क/,
  pl: /(?<!z )tym adresem.*kupiono/i,
  // an invoice, or the bill of a card
  'pt-BR': /sua fatura/i,
  'zh-Hans': /此代码/,
}

test('a language has one term for one thing, and the link to the withdrawal has the words of its button', async () => {
  for (const locale of LOCALES) {
    const catalogue = await catalogueOf(locale)
    assert.equal(catalogue.ui.withdraw, catalogue.withdraw.begin, locale)
    for (const [name, text] of textsOf(catalogue)) {
      const stray = STRAY[locale]?.exec(text)
      assert.ok(!stray, `${locale} ${name}: ${text}`)
      if (locale === 'de' && !name.startsWith('invoice.')) assert.doesNotMatch(text, /Verkäufer/, name)
    }
  }
})

test('French has a space that does not break before its marks, and inside its quotation marks', async () => {
  for (const [name, text] of textsOf(await catalogueOf('fr')))
    assert.doesNotMatch(text, / [?;!»:]|« |[^\s\u202f][?!;](?=\s|$)|«[^\u00a0]|[^\u00a0]»/, `${name}: ${text}`)
})

/** The word for a debit card in each language. */
const DEBIT_CARDS =
  'بطاقة خصم|Debitkarte|Tarjeta de débito|Carte de débit|כרטיס חיוב מיידי|डेबिट कार्ड|Kartu debit|Carta di debito|デビットカード|체크카드|Betaalpas|Karta debetowa|Cartão de débito|Banka kartı|借记卡'

test('no language calls the rail of debit cards and bank debits a debit card', async () => {
  const isCard = new RegExp(`^(${DEBIT_CARDS})$`)
  for (const locale of LOCALES) assert.doesNotMatch((await catalogueOf(locale)).ui.debit, isCard, locale)
})

test('a built page changes its language: its texts, its direction, and nothing in its scripts', async () => {
  const built = readFileSync(path.resolve(import.meta.dirname, '../../dist/pay/index.html'), 'utf8')
  const arabic = inLanguage(built, 'ar', await catalogueOf('ar'))
  assert.match(arabic, /^<!doctype html>\s*<html lang="ar" dir="rtl">/)
  const words = JSON.parse(/id="till-words"[^>]*>(.*?)<\/script>/s.exec(arabic)![1]!) as Pick<Catalogue, 'ui' | 'pay'>
  assert.deepEqual(Object.keys(words), ['ui', 'pay'])
  assert.equal(words.pay.toPayment, (await catalogueOf('ar')).pay.toPayment)
  const scriptOf = (html: string) => /<script type="module">(.*?)<\/script>/s.exec(html)![1]
  assert.equal(scriptOf(arabic), scriptOf(built))
  assert.doesNotMatch(arabic.replace(scriptOf(arabic)!, ''), /turn on JavaScript|Continue to payment/)
})

test('each page is sent the parts that its modules read, and no other', () => {
  const web = path.resolve(import.meta.dirname, '../../web')
  const read = (file: string) => readFileSync(path.join(web, file), 'utf8')
  for (const page of ['pay', 'order', 'charge', 'withdraw', 'library', 'sign-in', 'account', 'shop', 'operator']) {
    const html = read(`${page}/index.html`)
    const seen = new Set<string>()
    const parts = new Set<string>()
    for (const queue = [`${page}/main.tsx`]; queue.length > 0;) {
      const file = queue.pop()!
      if (seen.has(file)) continue
      seen.add(file)
      const text = read(file)
      for (const [, part] of text.matchAll(/\bwordsOf\('(\w+)'\)/g)) parts.add(part!)
      for (const [, name] of text.matchAll(/(?:from |import\()'(\.[^']+\.tsx?)'/g)) {
        const next = path.join(path.dirname(file), name!)
        if (!next.startsWith('..')) queue.push(next)
      }
    }
    assert.ok(seen.size > 10, page)
    const sent = /<!--words:([\w ]+)-->/.exec(html)?.[1]?.split(' ') ?? []
    assert.deepEqual(sent.toSorted(), [...parts].sort(), page)
  }
})

test('a text ends no script and no element of the page', () => {
  const hostile = { ...en, pay: { ...en.pay, title: '</script><b>&' } }
  assert.doesNotMatch(wordsScript('pay', hostile).replace(/<\/script>$/, ''), /<\/script|<b>/)
  const html = inLanguage('<html lang="en"><title data-w="pay.title">Checkout</title>', 'de', hostile)
  assert.equal(html, '<html lang="de"><title data-w="pay.title">&lt;/script&gt;&lt;b&gt;&amp;</title>')
  assert.throws(() => inLanguage('<p data-w="pay.nothing">x</p>', 'de', en), /pay\.nothing/)
})

test('values stand where the text wants them, and are not read as texts themselves', () => {
  assert.equal(say('{a} and {b}', { a: '{b}', b: '$&' }), '{b} and $&')
  assert.equal(say('{unknown} stays', {}), '{unknown} stays')
})
