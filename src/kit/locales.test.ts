import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOCALES, localeOf, localeOfTag } from './locales.ts'

test('each of our languages is found by its own tag, and others by what they begin with', () => {
  for (const locale of LOCALES) assert.equal(localeOfTag(locale.toLowerCase()), locale)
  const found = {
    'de-AT': 'de',
    'pt-PT': 'pt-BR',
    'zh-CN': 'zh-Hans',
    'zh-TW': 'zh-Hans',
    iw: 'he',
    'EN-us': 'en',
    ' fr ': 'fr',
  }
  for (const [tag, locale] of Object.entries(found)) assert.equal(localeOfTag(tag), locale, tag)
  for (const tag of ['', 'xx', 'constructor', '*']) assert.equal(localeOfTag(tag), undefined, tag)
})

test('the language that the browser prefers most of ours is chosen, and English where there is none', () => {
  const chosen: [string | undefined, string][] = [
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['sv, de;q=0.8, en;q=0.9', 'en'],
    ['fr;q=0.4, es;q=0.5', 'es'],
    ['de;q=0, it', 'it'],
    ['de;q=0', 'en'],
    ['ja, de', 'ja'],
    ['*', 'en'],
    ['de;q=nonsense, nl;q=0.1', 'nl'],
    [`${'xx,'.repeat(10_000)}de`, 'en'],
  ]
  for (const [header, locale] of chosen) assert.equal(localeOf(header), locale, header?.slice(0, 40))
})
