import { type Locale, isRightToLeft } from '../kit/locales.ts'
import { catalogueOf } from '../words/catalogues.ts'
import { say } from '../words/say.ts'
import type { Attachment, Invoice } from './document.ts'
import { type Letters, type Pdf, type Style, openLetters } from './letters.ts'
import { type InvoiceTexts, localeOfInvoice, textsOf } from './texts.ts'

/** A4 in points. */
const PAGE = { width: 595.28, height: 841.89 }
const EDGE = { start: 56, end: PAGE.width - 56, top: 60, bottom: PAGE.height - 70 }
const MIDDLE = 316
const SOFT = '#5d6168'
const PLAIN: Style = { size: 10 }
const LABEL: Style = { size: 8.5, color: SOFT }
const STRONG: Style = { size: 10, bold: true }
const LINE = 15

/**
 * Draws a document as PDF/A-3 in its own language, with the XML for machines in it: the same bytes for the same document. It is tagged,
 * so that a screen reader can read it.
 */
export async function invoicePdf(invoice: Invoice, attachment?: Attachment): Promise<Buffer> {
  const locale = localeOfInvoice(invoice)
  const { invoice: words } = await catalogueOf(locale)
  const texts = textsOf(invoice, words)
  const { default: PdfDocument } = await import('pdfkit')
  const title = `${texts.title} ${invoice.number}`
  const pdf = new PdfDocument({
    size: [PAGE.width, PAGE.height],
    margin: 0,
    pdfVersion: '1.7',
    subset: 'PDF/A-3b' as 'PDF/A-3',
    tagged: true,
    lang: locale,
    displayTitle: true,
    bufferPages: true,
    // no author: the library puts the name unescaped into the XML of the metadata
    info: { Title: title, Creator: 'Till', Producer: 'Till', CreationDate: invoice.issuedAt, ModDate: invoice.issuedAt }, // oxfmt-ignore
  })
  const chunks: Buffer[] = []
  const done = new Promise<void>((resolve, reject) => pdf.on('end', resolve).on('error', reject))
  pdf.on('data', (chunk: Buffer) => chunks.push(chunk))
  const letters = await openLetters(pdf, locale, isRightToLeft(locale), [...allTexts(texts), ...Object.values(words)])
  new Sheet(pdf, letters, locale).draw(texts, { parties: [words.seller, words.buyer], table: [words.description, words.amount], page: words.page, foot: title }) // oxfmt-ignore
  if (attachment) attach(pdf, attachment, invoice.issuedAt)
  pdf.end()
  await done
  return Buffer.concat(chunks)
}

const allTexts = ({ title, about, facts, seller, buyer, line, amount, sums, notes }: InvoiceTexts): string[] =>
  [title, about ?? '', facts, seller, buyer, line, amount, sums, notes].flat(2)

function attach(pdf: Pdf, { name, xml, metadata }: Attachment, at: Date): void {
  const options = { name, type: 'text/xml', relationship: 'Alternative', creationDate: at, modifiedDate: at }
  pdf.file(Buffer.from(xml), options as Parameters<Pdf['file']>[1])
  // the types of the library do not know it
  ;(pdf as Pdf & { appendXML(xml: string): void }).appendXML(metadata)
}

interface Labels {
  parties: [seller: string, buyer: string]
  table: [description: string, amount: string]
  page: string
  foot: string
}

type Element = ReturnType<Pdf['struct']>

class Sheet {
  readonly #pdf: Pdf
  readonly #letters: Letters
  readonly #root: Element
  readonly #locale: Locale
  #y = EDGE.top

  constructor(pdf: Pdf, letters: Letters, locale: Locale) {
    this.#pdf = pdf
    this.#letters = letters
    this.#locale = locale
    this.#root = pdf.struct('Document')
    pdf.addStructure(this.#root)
  }

  draw(texts: InvoiceTexts, { parties, table, page, foot }: Labels): void {
    this.#lines('H1', [texts.title], EDGE.start, EDGE.end - EDGE.start, { size: 20, bold: true }, 28)
    if (texts.about) {
      this.#y += 2
      this.#lines('P', [texts.about], EDGE.start, EDGE.end - EDGE.start, PLAIN)
    }
    this.#y += 14
    this.#columns([
      () => this.#party(parties[0], texts.seller, EDGE.start),
      () => this.#party(parties[1], texts.buyer, MIDDLE),
    ])
    this.#y += 14
    for (const [label, value] of texts.facts) this.#fact(label, value)
    this.#y += 16
    this.#table(texts, table)
    this.#y += 14
    for (const note of texts.notes) {
      this.#lines('P', [note], EDGE.start, EDGE.end - EDGE.start, PLAIN)
      this.#y += 4
    }
    this.#feet(page, foot)
  }

  /** Draws both from the same height, and goes on below the longer one. */
  #columns(columns: (() => void)[]): void {
    const top = this.#y
    const ends = columns.map((draw) => {
      this.#y = top
      draw()
      return this.#y
    })
    this.#y = Math.max(...ends)
  }

  #party(label: string, lines: readonly string[], x: number): void {
    const most = (x === MIDDLE ? EDGE.end : MIDDLE - 20) - x
    this.#lines('P', [label], x, most, LABEL, 14)
    lines.forEach((line, at) => this.#lines('P', [line], x, most, at === 0 ? STRONG : PLAIN))
  }

  #fact(label: string, value: string): void {
    this.#turn(LINE)
    const y = this.#y
    const draw = () => {
      this.#letters.write(label, EDGE.start, y + 1.5, LABEL)
      this.#letters.write(value, EDGE.start + 150, y, PLAIN)
    }
    this.#tagged('P', this.#root, draw, `${label}: ${value}`)
    this.#y += LINE
  }

  #table({ line, amount, sums }: InvoiceTexts, [description, amountLabel]: Labels['table']): void {
    const table = this.#add('Table', this.#root)
    this.#row(table, [description], amountLabel, LABEL, 'TH')
    this.#rule()
    const most = EDGE.end - EDGE.start - this.#letters.width(amount, PLAIN) - 30
    this.#row(table, this.#letters.wrap(line, most, PLAIN), amount, PLAIN, 'TD')
    this.#rule()
    sums.forEach(([label, value], at) => this.#row(table, [label], value, at === sums.length - 1 ? { size: 12, bold: true } : PLAIN, 'TD')) // oxfmt-ignore
    table.end()
  }

  #row(table: Element, lines: readonly string[], end: string, style: Style, cell: 'TH' | 'TD'): void {
    this.#turn(lines.length * LINE + 6)
    const row = this.#add('TR', table)
    const y = this.#y
    const draw = () => lines.forEach((line, at) => this.#letters.write(line, EDGE.start, y + at * LINE, style))
    this.#tagged(cell, row, draw, lines.join(' '))
    this.#tagged(cell, row, () => this.#letters.write(end, EDGE.end, y, style, { atEnd: true }), end)
    row.end()
    this.#y += lines.length * LINE + 6
  }

  #lines(type: string, texts: readonly string[], x: number, most: number, style: Style, height = LINE): void {
    const lines = texts.flatMap((text) => this.#letters.wrap(text, most, style))
    this.#turn(lines.length * height)
    const y = this.#y
    const draw = () => lines.forEach((line, at) => this.#letters.write(line, x, y + at * height, style))
    this.#tagged(type, this.#root, draw, texts.join(' '))
    this.#y += lines.length * height
  }

  #rule(): void {
    this.#pdf.markContent('Artifact', { type: 'Layout' })
    this.#pdf.moveTo(EDGE.start, this.#y).lineTo(EDGE.end, this.#y).lineWidth(0.6).strokeColor('#c9cbcf').stroke()
    this.#pdf.endMarkedContent()
    this.#y += 8
  }

  /** A new page when `height` does not fit any more. */
  #turn(height: number): void {
    if (this.#y + height <= EDGE.bottom) return
    this.#pdf.addPage()
    this.#y = EDGE.top
  }

  #feet(page: string, text: string): void {
    const { start, count } = this.#pdf.bufferedPageRange()
    this.#root.end()
    const number = new Intl.NumberFormat(this.#locale)
    for (let at = 0; at < count; at++) {
      this.#pdf.switchToPage(start + at)
      this.#pdf.markContent('Artifact', { type: 'Pagination' })
      this.#letters.write(text, EDGE.start, EDGE.bottom + 22, LABEL)
      const pages = say(page, { page: number.format(at + 1), pages: number.format(count) })
      this.#letters.write(pages, EDGE.end, EDGE.bottom + 22, LABEL, { atEnd: true })
      this.#pdf.endMarkedContent()
    }
  }

  #add(type: string, to: Element, options: object = {}): Element {
    const element = this.#pdf.struct(type, options)
    to.add(element)
    return element
  }

  /**
   * `actual`: the text that a screen reader says. The letters of Arabic are drawn from parts that have no meaning of their own, so a
   * screen reader could not find the text in them.
   */
  #tagged(type: string, to: Element, draw: () => void, actual: string): void {
    const element = this.#add(type, to, this.#letters.isRightToLeft ? { actual } : {})
    element.add(draw)
    element.end()
  }
}
