import { latinDigits } from '../../src/kit/digits.ts'

const GIGABYTE = 1e9
const MOST_GIGABYTES = 1e6

/**
 * The bytes of a number of gigabytes that a person typed, or undefined where it cannot be read. Three digits after a mark are thousands to
 * one reader and decimals to another, so such a number is refused.
 */
export function bytesOf(typed: string): number | undefined {
  const text = latinDigits(typed).trim()
  if (!/^\d+(?:[.,]\d+)?$/.test(text) || /^[1-9]\d{0,2}[.,]\d{3}$/.test(text)) return undefined
  const gigabytes = Number(text.replace(',', '.'))
  return gigabytes <= MOST_GIGABYTES ? Math.round(gigabytes * GIGABYTE) : undefined
}

export const gigabytesOf = (bytes: number): string => String(bytes / GIGABYTE)
