import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contrast, rgbOf, themeOf } from './accent.ts'

const GROUNDS = { light: ['#f5f4f0', '#fffefc'], dark: ['#0f1211', '#181c1b'] }
const pairOf = (css: string) => /^light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)$/.exec(css)!.slice(1) as [string, string]
const ratio = (one: string, other: string) => contrast(rgbOf(one), rgbOf(other))

test('every colour that a seller can choose is legible on light and on dark pages, and so is the text on it', () => {
  const channels = ['00', '33', '7f', 'c0', 'ff']
  for (const red of channels)
    for (const green of channels)
      for (const blue of channels) {
        const chosen = `#${red}${green}${blue}`
        const theme = themeOf(chosen)
        const [light, dark] = pairOf(theme.accent)
        const [onLight, onDark] = pairOf(theme.onAccent)
        for (const ground of GROUNDS.light) assert(ratio(light, ground) >= 4.5, `${chosen} on ${ground}`)
        for (const ground of GROUNDS.dark) assert(ratio(dark, ground) >= 4.5, `${chosen} on ${ground}`)
        assert(ratio(light, onLight) >= 4.5 && ratio(dark, onDark) >= 4.5, `text on ${chosen}`)
      }
})

test('a colour that is legible already stays as it is', () => {
  assert.equal(pairOf(themeOf('#0a6248').accent)[0], '#0a6248')
  assert.equal(pairOf(themeOf('#63d3a6').accent)[1], '#63d3a6')
})
