/** All SEPA banks take these (EPC217-08): Latin letters, digits, and these marks. */
const NOT_SEPA = /[^A-Za-z0-9/\-?:().,'+ ]+/g

/**
 * A text in the characters of SEPA, cut to `most` of them. Letters of other scripts become Latin ones, and characters without an equal
 * become a space. A bank refuses a text that begins or ends with a slash or has two together.
 */
export async function sepaText(text: string, most: number): Promise<string> {
  const { default: anyAscii } = await import('any-ascii')
  const latin = anyAscii(text.normalize('NFC'))
    .replaceAll(NOT_SEPA, ' ')
    .replaceAll(/\/{2,}/g, '/')
    .replaceAll(/ {2,}/g, ' ')
    .replace(/^[/ ]+/, '')
  let end = Math.min(latin.length, most)
  while (end > 0 && '/ '.includes(latin[end - 1]!)) end--
  return latin.slice(0, end)
}
