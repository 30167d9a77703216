/** The text with the digits of every script as 0 to 9. */
export const latinDigits = (text: string): string => text.replaceAll(/(?![0-9])\p{Nd}/gu, latinDigit)

/** Unicode keeps the ten digits of a script in a row, from zero. */
function latinDigit(digit: string): string {
  const code = digit.codePointAt(0)!
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before++
  return String(before % 10)
}
