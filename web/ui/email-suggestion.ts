/** Mailbox providers, without the part after the dot: the buyer probably means one of them when one letter differs. */
const PROVIDERS =
  'gmail googlemail yahoo ymail rocketmail hotmail outlook icloud proton protonmail fastmail rediffmail yandex zohomail comcast verizon'.split(
    ' ',
  )
/** Real names that are close to one of those. The page must not call these wrong. */
const REAL = 'mail email live msn aol gmx web zoho hey tuta me mac pm duck'.split(' ')

/** Endings that do not exist, or that are typed by mistake far more often than on purpose. */
const ENDINGS: Record<string, string> = {
  ...slips('com', 'con cim cmo ocm vom xom comm coom cpm c0m om cm'),
  ...slips('net', 'nte ent ne nett'),
  ...slips('org', 'ogr orgg rog'),
  ...slips('co.uk', 'co.ukk couk co.u c.uk'),
  ...slips('co.in', 'co.inn coin'),
}

/** The probable right address ("ann@gmial.con" → "ann@gmail.com"), or undefined when it looks right. */
export function suggestEmail(address: string): string | undefined {
  const [, mailbox, domain] = /^\s*([^\s@]+)@([^\s@]+)\s*$/.exec(address) ?? []
  if (!domain) return undefined
  const [name = '', ...endings] = domain.toLowerCase().split(/[.,]+/)
  const ending = endings.join('.')
  const meant = providerLike(name)
  const known = PROVIDERS.includes(meant)
  // "gmail" alone, or "gmail.co": the provider has no such ending.
  const end = ENDINGS[ending] ?? (known && (!ending || (ending === 'co' && meant.startsWith('g'))) ? 'com' : ending)
  const better = `${meant}.${end}`
  return end && better !== domain.toLowerCase() ? `${mailbox}@${better}` : undefined
}

function providerLike(name: string): string {
  if (PROVIDERS.includes(name) || REAL.includes(name)) return name
  return PROVIDERS.find((provider) => distance(name, provider) <= (provider.length > 7 ? 2 : 1)) ?? name
}

/** The number of missing, added, changed or swapped letters (optimal string alignment). */
export function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3
  let before: number[] = []
  let row = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j]!, before[j - 2]! + 1)
    }
    before = row
    row = next
  }
  return row[b.length]!
}

function slips(meant: string, wrong: string): Record<string, string> {
  return Object.fromEntries(wrong.split(' ').map((ending) => [ending, meant]))
}
