import { LOCALE } from './language.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** 48219341 → "48.2 MB": decimal units, as shops and browsers show them. */
export function fileSize(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 999.95 && unit < UNITS.length - 1) {
    size /= 1000
    unit += 1
  }
  const digits = unit && size < 100 ? 1 : 0
  return new Intl.NumberFormat(LOCALE, {
    style: 'unit',
    unit: UNITS[unit]!,
    unitDisplay: unit ? 'short' : 'long',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(size)
}
