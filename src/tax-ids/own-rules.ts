export type TaxIdProblem = 'syntax' | 'checksum'

/**
 * Numbers that the library `stdnum` refuses although they are in use, by the country. A rule gets the number in capitals, without its
 * prefix. Undefined: the number is of another kind, and the library decides.
 */
export const OWN_RULES: Readonly<Record<string, (number: string) => 'right' | TaxIdProblem | undefined>> = {
  // Natural persons and groups, which the library refuses (https://github.com/koblas/stdnum-js/issues/164). The check digit is that of
  // python-stdnum, and fits numbers that VIES knows.
  CZ(number) {
    if (!/^6\d{8}$/.test(number)) return undefined
    const sum = digitsOf(number.slice(1, 8)).reduce((all, digit, at) => all + digit * (8 - at), 0) % 11
    const check = (18 - ((10 - sum) % 11)) % 10
    return check === Number(number[8]) ? 'right' : 'checksum'
  },
  // The library tests the first digit as it should test the third, and so refuses natural persons, whose numbers begin with 1.
  SK(number) {
    if (!/^[1-9]\d[2-46-9]\d{7}$/.test(number)) return 'syntax'
    return Number(number) % 11 === 0 ? 'right' : 'checksum'
  },
  // Personal codes since 2017 hold no date and have no check digit (https://github.com/arthurdejong/python-stdnum/issues/486).
  LV: (number) => (/^32\d{9}$/.test(number) ? 'right' : undefined),
  // Ladakh and Other Territory, which the library does not know.
  IN(number) {
    if (!/^(?:38|97)[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/.test(number)) return undefined
    return gstinDigit(number.slice(0, -1)) === number.at(-1) ? 'right' : 'checksum'
  },
}

const digitsOf = (number: string): number[] => Array.from(number, Number)

/** The check digit of an Indian number: each character counts 0 to 35, every second one twice. */
function gstinDigit(first: string): string {
  const products = Array.from(first, (char, at) => Number.parseInt(char, 36) * (at % 2 === 0 ? 1 : 2))
  const sum = products.reduce((all, product) => all + Math.floor(product / 36) + (product % 36), 0)
  return ((36 - (sum % 36)) % 36).toString(36).toUpperCase()
}
