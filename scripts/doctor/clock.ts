import { type Clock, type Finding, failure, fine, warning } from './finding.ts'

/** The service refuses notifications that are older or newer than this. */
const REFUSED_SECONDS = 300
export const DATABASE = 'the database'
/** Synchronised clocks differ by less than this. */
const NOTICED_SECONDS = 30

/** Compares our clock with all clocks that the other checks have read. */
export function checkClocks(clocks: readonly Clock[]): Finding {
  const about = 'clock'
  if (clocks.length === 0) return fine(about, 'no other clock could be read to compare it with')
  const worst = clocks.toSorted((a, b) => Math.abs(b.aheadSeconds) - Math.abs(a.aheadSeconds))[0]!
  const off = Math.abs(worst.aheadSeconds)
  if (off <= NOTICED_SECONDS)
    return fine(about, `within ${Math.max(1, off)} s of ${clocks.map(({ whose }) => whose).join(', ')}`)

  const others = clocks.filter(({ aheadSeconds }) => Math.abs(aheadSeconds) <= NOTICED_SECONDS)
  const agrees = others.length > 0 ? `; it agrees with ${others.map(({ whose }) => whose).join(', ')}` : ''
  const isTheirs = worst.whose === DATABASE
  const says = `this machine’s is ${off} s ${worst.aheadSeconds > 0 ? 'behind' : 'ahead of'} that of ${worst.whose}${agrees}`
  const advice = `let the clock of ${isTheirs ? 'its server' : 'this machine'} be set by the network (on Linux: timedatectl set-ntp true)`
  if (off <= REFUSED_SECONDS) return warning(about, says, advice)
  const harm = isTheirs
    ? 'orders expire at the wrong time'
    : `beyond ${REFUSED_SECONDS} s the service refuses every notification`
  return failure(about, `${says}: ${harm}`, advice)
}
