/** Makes a PDF (ISO 32000) of one page of text, so that the demo's product has a real file. */
export function pdf(lines: readonly string[]): Buffer {
  const shown = lines.map((line, at) => {
    const [size, text] = line.startsWith('# ') ? [24, line.slice(2)] : [12, line]
    const escaped = text.replace(/[^\x20-\x7e]/g, '?').replace(/[\\()]/g, '\\$&')
    return `BT /F1 ${size} Tf 72 ${720 - at * 26} Td (${escaped}) Tj ET`
  })
  const content = shown.join('\n')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, at) => {
    const offset = text.length
    text += `${at + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
  return Buffer.from(`${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`, 'latin1')
}
