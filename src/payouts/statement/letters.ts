import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Font } from 'fontkit'
import type PdfDocument from 'pdfkit'
import { readOnce } from '../../kit/read-once.ts'

type Pdf = InstanceType<typeof PdfDocument>

export const INK = '#1b1d21'

export interface Style {
  size: number
  bold?: boolean
  color?: string
}

interface Faces {
  plain: Font
  bold: Font
}

/**
 * Noto Sans (SIL Open Font License 1.1, its text is in the package): Latin, Greek, Cyrillic, Devanagari and every sign of a currency. The
 * standard fonts of PDF have no ₹. A file holds only the letters that it uses.
 */
const FACES = { plain: '400Regular/NotoSans_400Regular.ttf', bold: '700Bold/NotoSans_700Bold.ttf' } as const

const openFace = readOnce(readFace)

/** Reads the fonts on first use, once for a process. */
export async function readFaces(): Promise<Faces> {
  const [plain, bold] = await Promise.all([openFace('plain'), openFace('bold')])
  return { plain, bold }
}

async function readFace(name: keyof typeof FACES): Promise<Font> {
  const { create } = await import('fontkit')
  return create(
    await readFile(fileURLToPath(import.meta.resolve(`@expo-google-fonts/noto-sans/${FACES[name]}`))),
  ) as Font
}

/** Writes single lines of text in one document. */
export class Letters {
  readonly #pdf: Pdf
  readonly #faces: Faces

  constructor(pdf: Pdf, from: Faces) {
    this.#pdf = pdf
    this.#faces = from
    // The library takes an open font as well as its bytes, and its types know only the bytes.
    for (const name of ['plain', 'bold'] as const) pdf.registerFont(name, from[name] as unknown as ArrayBuffer)
  }

  /** Writes a line whose upper edge is at `y`. `right`: it ends at `x`. A text wider than `most` is cut with an ellipsis. */
  write(text: string, x: number, y: number, style: Style, { right = false, most = Infinity } = {}): void {
    const line = this.#cut(this.#drawable(text), style, most)
    this.#pdf.fillColor(style.color ?? INK)
    this.#choose(style).text(line, right ? x - this.#width(line, style) : x, y, { lineBreak: false })
  }

  #choose({ size, bold }: Style): Pdf {
    return this.#pdf.font(bold ? 'bold' : 'plain', size)
  }

  #width(text: string, style: Style): number {
    return this.#choose(style).widthOfString(text)
  }

  #cut(text: string, style: Style, most: number): string {
    if (most === Infinity || this.#width(text, style) <= most) return text
    const characters = Array.from(CHARACTERS.segment(text), ({ segment }) => segment)
    const upTo = (count: number) => `${characters.slice(0, count).join('').trimEnd()}…`
    let [fits, fails] = [0, characters.length]
    while (fails - fits > 1) {
      const middle = Math.floor((fits + fails) / 2)
      if (this.#width(upTo(middle), style) <= most) fits = middle
      else fails = middle
    }
    return upTo(fits)
  }

  /** Without pictures. A letter that the font lacks becomes a question mark, because an empty box says even less. */
  #drawable(text: string): string {
    const plain = text
      .normalize('NFC')
      .replaceAll(PICTURES, '')
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim()
    const letters = Array.from(plain, (one) =>
      this.#faces.plain.hasGlyphForCodePoint(one.codePointAt(0)!) ? one : '\ufffd',
    )
    return letters.join('').replaceAll(/\ufffd+/g, '?')
  }
}

const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })
const PICTURES = /(?![©®™])\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0e|\ufe0f/gu
