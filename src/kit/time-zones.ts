// The runtime alone knows the time zones, and the database gets moments: the two can have other data, and other names for one zone, such
// as Asia/Calcutta and Asia/Kolkata. Abbreviations even mean another zone for each: IST is India's for one and Israel's for the other.

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MONDAY = 1

export type Interval = 'hour' | 'day' | 'week' | 'month'

/** The runtime's name of a time zone. Undefined when there is none with this name. Offsets such as +05:30 are none. */
export function zoneOf(name: string): string | undefined {
  try {
    const zone = Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return /^[A-Z]/i.test(zone) ? zone : undefined
  } catch {
    return undefined
  }
}

/** The beginnings of a zone's hours, days, weeks or months from the one that has `from` to the last before `to`, oldest first. */
export function startsOf({
  from,
  to,
  interval,
  zone,
}: {
  from: Date
  to: Date
  interval: Interval
  zone: string
}): Date[] {
  const offsetAt = offsetsOf(zone)
  const starts: Date[] = []
  const local = from.getTime() + offsetAt(from.getTime())
  if (interval === 'hour') {
    const offset = local - from.getTime()
    for (let at = Math.floor(local / HOUR_MS) * HOUR_MS - offset; at < to.getTime(); at += HOUR_MS)
      starts.push(new Date(at))
    return starts
  }
  const day = new Date(local)
  const first = {
    day: Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()),
    week: Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() - ((day.getUTCDay() + 7 - MONDAY) % 7)),
    month: Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1),
  }[interval]
  const begin = new Date(first)
  for (let n = 0; ; n++) {
    const next =
      interval === 'month'
        ? Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + n, 1)
        : first + n * (interval === 'week' ? 7 : 1) * DAY_MS
    const at = momentOf(next, offsetAt)
    if (at >= to.getTime()) return starts
    starts.push(new Date(at))
  }
}

/** The first moment at which the zone's clocks show this time, or jump over it. */
function momentOf(local: number, offsetAt: (at: number) => number): number {
  const candidates = [local - offsetAt(local - DAY_MS), local - offsetAt(local + DAY_MS)]
  const shown = candidates.filter((at) => at + offsetAt(at) === local)
  return shown.length > 0 ? Math.min(...shown) : Math.max(...candidates)
}

/** How far the zone's clocks are ahead of UTC at a moment, in ms. */
function offsetsOf(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (at) => {
    const parts: Record<string, string> = {}
    for (const { type, value } of format.formatToParts(at)) parts[type] = value
    const { year, month, day, hour, minute, second } = parts
    const shown = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
    return shown - Math.floor(at / SECOND_MS) * SECOND_MS
  }
}
