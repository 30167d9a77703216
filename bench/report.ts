/**
 * One measurement against its target: `least` is the smallest acceptable value, or `most` the largest. Without either it is only
 * printed.
 */
export interface Result {
  name: string
  value: number
  least?: number
  most?: number
  /** The data behind the value: requests a second, or milliseconds. */
  parts?: Record<string, number>
}

export const isMet = ({ value, least = -Infinity, most = Infinity }: Result): boolean => value >= least && value <= most

/** The results as a table for people. */
export function tableOf(results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.name,
    numberOf(result.value),
    result.least !== undefined ? `≥ ${result.least}` : result.most !== undefined ? `≤ ${result.most}` : '',
    result.least === undefined && result.most === undefined ? '' : isMet(result) ? 'ok' : 'NOT MET',
    Object.entries(result.parts ?? {})
      .map(([name, value]) => `${name} ${numberOf(value)}`)
      .join(', '),
  ])
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const numberOf = (value: number): string =>
  Number.isInteger(value) || Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2)
