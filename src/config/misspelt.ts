import type { Environment } from './reader.ts'

/** Other programs seldom use these beginnings, so a name with one of them was meant for the service. */
const OUR_FAMILIES = ['STRIPE_', 'RAZORPAY_', 'SMTP_', 'IDP_', 'S3_']
/** Names of other programs that look like ours: the Stripe CLI reads the first two, and web frameworks the others. */
const OTHER_PROGRAMS = new Set(['STRIPE_API_KEY', 'STRIPE_DEVICE_NAME', 'API_URL', 'APP_URI', 'WEB_URL'])
/** A cluster or a linked container describes its services by variables, and a service there can be called `smtp` or `stripe`. */
const OF_A_CLUSTER = /_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/
const ADDRESS_OF_A_CLUSTER = /^(tcp|udp|sctp):\/\//

/**
 * Names each variable that is probably a misspelt setting. The environment is full of other programs' variables, so only a name that is
 * close to one of `names` counts, or one that begins with one of our families.
 */
export function problemsOfNames(env: Environment, names: ReadonlySet<string>): string[] {
  const known = [...names].flatMap((name) => [name, `${name}_FILE`])
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value?.trim() || known.includes(name) || isForeign(name, value)) return []
    const upper = name.toUpperCase()
    // Windows ignores the case of a name, so there this one has been read
    if (known.includes(upper)) return upper.includes('_') && env[upper] === undefined ? [problem(name, upper)] : []
    const family = OUR_FAMILIES.find((beginning) => upper.startsWith(beginning))
    const { nearest, typos } = nearestTo(upper, family ? known.filter((one) => one.startsWith(family)) : known)
    return family || typos <= typosIn(nearest.replace(/_FILE$/, '')) ? [problem(name, nearest)] : []
  })
}

const problem = (name: string, nearest: string) =>
  `${name}: there is no such setting; ${nearest} is the nearest. If another program needs it, start Till without it`

const isForeign = (name: string, value: string): boolean =>
  OTHER_PROGRAMS.has(name) || OF_A_CLUSTER.test(name) || (name.endsWith('_PORT') && ADDRESS_OF_A_CLUSTER.test(value))

function nearestTo(name: string, known: readonly string[]): { nearest: string; typos: number } {
  const all = known.map((nearest) => ({ nearest, typos: typosBetween(name, nearest) }))
  return all.reduce((best, one) => (one.typos < best.typos ? one : best))
}

/** How many typos still leave a name recognisable. Short names such as PORT are too near to words of other programs. */
const typosIn = ({ length }: string): number => (length < 6 ? 0 : length < 8 ? 1 : 2)

/** Counts the letters to insert, remove, replace or exchange with the next one: the optimal string alignment distance. */
function typosBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
