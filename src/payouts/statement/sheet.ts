import type { Letters, Style } from './letters.ts'

/** A4 in points. */
export const PAGE = { width: 595.28, height: 841.89 }
export const EDGE = { left: 50, right: PAGE.width - 50, top: 54, bottom: PAGE.height - 64 }
export const ROW = 16
export const SOFT = '#5d6168'
const LINE = '#c9cbcf'
export const PLAIN: Style = { size: 8.5 }
export const STRONG: Style = { size: 8.5, bold: true }
export const LABEL: Style = { size: 8, color: SOFT }

type Pdf = ConstructorParameters<typeof Letters>[0]
export type Element = ReturnType<Pdf['struct']>

/** The pages, the place of the next line, and the structure that a screen reader follows. */
export class Sheet {
  readonly pdf: Pdf
  readonly letters: Letters
  readonly root: Element
  y = EDGE.top

  constructor(pdf: Pdf, letters: Letters) {
    this.pdf = pdf
    this.letters = letters
    this.root = pdf.struct('Document')
    pdf.addStructure(this.root)
  }

  add(type: string, to: Element = this.root, scope?: 'Column' | 'Row'): Element {
    // The types of the library do not know the scope of a header.
    const element = this.pdf.struct(type, (scope ? { scope } : {}) as object)
    to.add(element)
    return element
  }

  /** Writes a line as an element of the structure. */
  line(type: string, text: string, style: Style, at: Place, to: Element = this.root): void {
    this.tagged(type, to, () => this.letters.write(text, at.x, at.y, style, at))
  }

  tagged(type: string, to: Element, draw: () => void, scope?: 'Column'): void {
    const element = this.add(type, to, scope)
    element.add(draw)
    element.end()
  }

  rule(y: number, color = LINE): void {
    this.pdf.markContent('Artifact', { type: 'Layout' })
    this.pdf.moveTo(EDGE.left, y).lineTo(EDGE.right, y).lineWidth(0.6).strokeColor(color).stroke()
    this.pdf.endMarkedContent()
  }

  /** Begins a new page when `height` does not fit on this one any more. Returns whether it did. */
  turns(height: number): boolean {
    if (this.y + height <= EDGE.bottom) return false
    this.pdf.addPage()
    this.y = EDGE.top
    return true
  }

  feet(text: string): void {
    const { start, count } = this.pdf.bufferedPageRange()
    this.root.end()
    for (let page = start; page < start + count; page += 1) {
      this.pdf.switchToPage(page)
      this.rule(EDGE.bottom + 12)
      this.pdf.markContent('Artifact', { type: 'Pagination' })
      this.letters.write(text, EDGE.left, EDGE.bottom + 18, LABEL)
      this.letters.write(`Page ${page + 1} of ${count}`, EDGE.right, EDGE.bottom + 18, LABEL, { right: true })
      this.pdf.endMarkedContent()
    }
  }
}

interface Place {
  x: number
  y: number
  right?: boolean
  most?: number
}

export interface Column<Row> {
  name: string
  /** The left edge, or the right edge of a number. */
  x: number
  number?: boolean
  most?: number
  text: (row: Row) => string
}

/** A heading stays with the first rows of its table. */
export function heading(sheet: Sheet, text: string): void {
  sheet.turns(20 + 3 * ROW)
  sheet.line('H2', text, { size: 11, bold: true }, { x: EDGE.left, y: sheet.y })
  sheet.y += 22
}

export function names<Row>(sheet: Sheet, table: Element, columns: Column<Row>[]): void {
  const row = sheet.add('TR', table)
  const y = sheet.y
  for (const { name, x, number } of columns)
    sheet.tagged('TH', row, () => sheet.letters.write(name, x, y, STRONG, { right: number ?? false }), 'Column')
  row.end()
  sheet.y += ROW
  sheet.rule(sheet.y - 4)
}

export function cells<Row>(sheet: Sheet, table: Element, columns: Column<Row>[], value: Row, style: Style): void {
  const row = sheet.add('TR', table)
  const y = sheet.y
  for (const { x, number, most, text } of columns)
    sheet.tagged('TD', row, () => sheet.letters.write(text(value), x, y, style, { right: number ?? false, most: most ?? Infinity })) // oxfmt-ignore
  row.end()
  sheet.y += ROW
}
