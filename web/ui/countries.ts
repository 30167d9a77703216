/** Unions, the outlying parts of the world, and codes for tests: they have a name, and are no country. */
const NO_COUNTRY = /E[UZ]|UN|QO|X[AB]|ZZ/

/** The codes and names of all countries, by name in the language. A code that another one has replaced, such as UK, is none. */
export function countriesIn(locale: string): Map<string, string> {
  const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' })
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const all = letters
    .flatMap((one) => letters.map((two) => one + two))
    .map((code) => [code, names.of(code)!] as const)
    .filter(([code, name]) => name && !NO_COUNTRY.test(code) && new Intl.Locale(`und-${code}`).region === code)
  return new Map(all.sort(([, one], [, two]) => one.localeCompare(two, locale)))
}
