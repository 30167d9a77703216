import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import bidiFactory, { type Bidi } from 'bidi-js'
import type { Font } from 'fontkit'
import type PdfDocument from 'pdfkit'
import type { Locale } from '../kit/locales.ts'
import { readOnce } from '../kit/read-once.ts'

export type Pdf = InstanceType<typeof PdfDocument>

export interface Style {
  size: number
  bold?: boolean
  color?: string
}

/**
 * The faces of all languages, each under the SIL Open Font License 1.1. A document has only the letters that it uses. Chinese, Japanese
 * and Korean have one weight, because a second one has many megabytes.
 */
const FILES = {
  // Latin, Greek, Cyrillic, Devanagari, and every sign of a currency
  plain: '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
  bold: '@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf',
  arabic: '@expo-google-fonts/noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf',
  arabicBold: '@expo-google-fonts/noto-sans-arabic/700Bold/NotoSansArabic_700Bold.ttf',
  hebrew: '@expo-google-fonts/noto-sans-hebrew/400Regular/NotoSansHebrew_400Regular.ttf',
  hebrewBold: '@expo-google-fonts/noto-sans-hebrew/700Bold/NotoSansHebrew_700Bold.ttf',
  japanese: '@expo-google-fonts/biz-udpgothic/400Regular/BIZUDPGothic_400Regular.ttf',
  korean: '@expo-google-fonts/nanum-gothic/400Regular/NanumGothic_400Regular.ttf',
  // its package tells only where its main file is
  chinese: '@embedpdf/fonts-sc',
} as const
type Face = keyof typeof FILES
const BOLD: Partial<Record<Face, Face>> = { plain: 'bold', arabic: 'arabicBold', hebrew: 'hebrewBold' }
/** These draw from right to left themselves. */
const RIGHT_TO_LEFT: ReadonlySet<Face> = new Set(['arabic', 'arabicBold', 'hebrew', 'hebrewBold'])

/** A Chinese character looks different in each language, so the document's language comes first. */
const facesFor = (locale: Locale): Face[] => {
  const east = { ja: 'japanese', ko: 'korean', 'zh-Hans': 'chinese' } as const
  const own: Face[] = locale in east ? [east[locale as keyof typeof east]] : []
  const rest: Face[] = ['arabic', 'hebrew', 'japanese', 'korean', 'chinese']
  return [...new Set<Face>(['plain', ...own, ...rest])]
}

/** Reads a font on first use, once for a process. */
const openFace = readOnce(readFace)

async function readFace(face: Face): Promise<Font> {
  const { create } = await import('fontkit')
  const address = new URL(
    face === 'chinese' ? '../fonts/NotoSansHans-Regular.otf' : '',
    import.meta.resolve(FILES[face]),
  )
  return create(await readFile(fileURLToPath(address))) as Font
}

const bidi = (bidiFactory as unknown as () => Bidi)()
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })
const WORDS = new Intl.Segmenter('en', { granularity: 'word' })
/** Characters that steer the direction, and are not drawn. */
const INVISIBLE = /\u061c|\u200b|\u200e|\u200f|[\u202a-\u202e]|[\u2060-\u2069]|\ufe0e|\ufe0f/gu
const PICTURES = /(?![©®™])\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\ufe0e|\ufe0f/gu

/** Marks, and letters that a face draws as a letter with marks. */
const PLACED = /[\p{M}\p{sc=Arab}]/u

interface Run {
  text: string
  face: Face
  level: number
}

/** Opens the faces that `texts` need, and registers them in `pdf`. */
export async function openLetters(pdf: Pdf, locale: Locale, isRightToLeft: boolean, texts: readonly string[]) {
  const candidates = facesFor(locale)
  const fonts = new Map<Face, Font>()
  const all = new Set(texts.join(' ').normalize('NFC').replaceAll(PICTURES, ' '))
  for (const face of candidates) {
    const missing = [...all].filter((one) => ![...fonts.values()].some((font) => has(font, one)))
    if (face !== 'plain' && missing.every((one) => /[\s\p{Cc}\p{Cf}]/u.test(one))) break
    fonts.set(face, await openFace(face))
  }
  const faces = [...fonts.keys()].flatMap((face) => [face, BOLD[face] ?? []].flat())
  const drawing = new Map<Face, Font>()
  for (const face of faces) {
    drawing.set(face, await openFace(face))
    pdf.registerFont(face, drawing.get(face) as unknown as ArrayBuffer)
  }
  return new Letters(pdf, fonts, drawing, isRightToLeft)
}

const has = (font: Font, character: string): boolean => font.hasGlyphForCodePoint(character.codePointAt(0)!)

/** Writes lines of any script in one document. `x` counts from the edge at which the document's language begins. */
export class Letters {
  readonly #pdf: Pdf
  readonly #fonts: Map<Face, Font>
  /** The bold faces too. */
  readonly #drawing: Map<Face, Font>
  readonly #placed: Record<string, boolean> = {}
  readonly isRightToLeft: boolean

  constructor(pdf: Pdf, fonts: Map<Face, Font>, drawing: Map<Face, Font>, isRightToLeft: boolean) {
    this.#pdf = pdf
    this.#fonts = fonts
    this.#drawing = drawing
    this.isRightToLeft = isRightToLeft
  }

  /** Writes a line whose upper edge is at `y`. `atEnd`: it ends at `x`, and does not begin there. */
  write(text: string, x: number, y: number, style: Style, { atEnd = false } = {}): void {
    const runs = this.#runsOf(text)
    const width = this.#widthOf(runs, style)
    const left = this.isRightToLeft ? this.#pdf.page.width - x - (atEnd ? 0 : width) : x - (atEnd ? width : 0)
    this.#pdf.fillColor(style.color ?? '#1b1d21')
    let at = left
    for (const run of inVisualOrder(runs)) {
      const shown = shownText(run)
      // all lines of a size stand on one height, whatever the face
      const top = y + (this.#baseline('plain', style) - this.#baseline(run.face, style))
      this.#choose(run.face, style).text(shown, at, top, { lineBreak: false, features: [] })
      at += this.#pdf.widthOfString(shown, { features: [] })
    }
  }

  width(text: string, style: Style): number {
    return this.#widthOf(this.#runsOf(text), style)
  }

  /** The lines of a text that are at most `most` wide. */
  wrap(text: string, most: number, style: Style): string[] {
    const lines: string[] = []
    let line = ''
    for (const { segment } of WORDS.segment(text.replaceAll(/\s+/g, ' ').trim())) {
      const parts = this.width(segment, style) > most ? graphemesOf(segment) : [segment]
      for (const part of parts) {
        // a mark such as a comma stays with the word before it
        const isMark = /^[\p{Pe}\p{Pf}\p{Po}]+$/u.test(part)
        if (line !== '' && !isMark && this.width(line + part, style) > most) {
          lines.push(line.trimEnd())
          line = part.trimStart()
        } else line += part
      }
    }
    return line.trim() === '' ? lines : [...lines, line.trimEnd()]
  }

  #choose(face: Face, { size, bold }: Style): Pdf {
    return this.#pdf.font((bold && BOLD[face]) || face, size)
  }

  #baseline(face: Face, style: Style): number {
    const { ascent, unitsPerEm } = this.#fonts.get(face)!
    return (ascent / unitsPerEm) * style.size
  }

  #widthOf(runs: readonly Run[], style: Style): number {
    return runs.reduce(
      (sum, run) => sum + this.#choose(run.face, style).widthOfString(shownText(run), { features: [] }),
      0,
    )
  }

  /** The parts of a line that have one face and one direction. */
  #runsOf(given: string): Run[] {
    const text = given
      .normalize('NFC')
      .replaceAll(PICTURES, '')
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    // an address in Latin letters keeps its direction also in an Arabic document
    const turns = this.isRightToLeft && /[\p{sc=Arab}\p{sc=Hebr}]/u.test(text)
    const { levels } = bidi.getEmbeddingLevels(text, turns ? 'rtl' : 'ltr')
    const runs: Run[] = []
    let at = 0
    for (const grapheme of graphemesOf(text)) {
      const level = levels[at] ?? 0
      at += grapheme.length
      const shown = grapheme.replaceAll(INVISIBLE, '')
      if (shown === '') continue
      const face = this.#faceFor(shown)
      const drawn = face ? shown : '?'
      const last = runs.at(-1)
      if (last && last.level === level && last.face === (face ?? 'plain')) last.text += drawn
      else runs.push({ text: drawn, face: face ?? 'plain', level })
    }
    return runs.map((run) => (this.#canPlace(run) ? run : this.#withoutFaults(run)))
  }

  /** Whether the library can place the letters: it fails at a mark for which a face has no place at its letter (fontkit 2.0). */
  #canPlace(run: Run): boolean {
    if (!PLACED.test(run.text)) return true
    try {
      for (const face of [run.face, BOLD[run.face] ?? []].flat()) this.#drawing.get(face)?.layout(shownText(run), [])
      return true
    } catch {
      return false
    }
  }

  /**
   * The run without its marks, or with a question mark for each letter at which the library fails: a document that cannot be drawn would be
   * worse. Each letter is tried once in a document, because a long line is measured at each of its letters.
   */
  #withoutFaults(run: Run): Run {
    const letters = graphemesOf(RIGHT_TO_LEFT.has(run.face) ? run.text.replaceAll(/\p{M}/gu, '') : run.text)
    const plain = { ...run, text: letters.join('') }
    if (this.#canPlace(plain)) return plain
    const canPlace = (text: string) => (this.#placed[run.face + text] ??= this.#canPlace({ ...run, text }))
    const marked = { ...run, text: letters.map((one) => (canPlace(one) ? one : '?')).join('') }
    return this.#canPlace(marked) ? marked : { ...run, text: '?' }
  }

  #faceFor(grapheme: string): Face | undefined {
    const characters = [...grapheme].filter((one) => !/\p{Cf}/u.test(one))
    for (const [face, font] of this.#fonts) if (characters.every((one) => has(font, one))) return face
    return undefined
  }
}

const graphemesOf = (text: string): string[] => Array.from(GRAPHEMES.segment(text), ({ segment }) => segment)

/** The text to draw a run with. A face for Arabic or Hebrew turns the letters itself; the others do not. */
function shownText({ text, face, level }: Run): string {
  if (level % 2 === 0 || RIGHT_TO_LEFT.has(face)) return text
  const turned = graphemesOf(text).reverse()
  return turned.map((one) => bidi.getMirroredCharacter(one) ?? one).join('')
}

/** Rule L2 of the Unicode Bidirectional Algorithm, on runs. */
function inVisualOrder(runs: readonly Run[]): Run[] {
  const result = [...runs]
  const most = Math.max(0, ...runs.map(({ level }) => level))
  for (let level = most; level > 0; level--) {
    for (let from = 0; from < result.length; from++) {
      if (result[from]!.level < level) continue
      let to = from
      while (to < result.length && result[to]!.level >= level) to++
      result.splice(from, to - from, ...result.slice(from, to).reverse())
      from = to
    }
  }
  return result
}
