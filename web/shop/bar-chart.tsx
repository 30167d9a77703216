const HEIGHT = 100
const STEP = 10
const GAP = 2

export interface Bar {
  at: string
  value: number
  /** The value in words. */
  said: string
}

interface BarsProps {
  title: string
  bars: Bar[]
  interval: 'day' | 'week'
  /** The value of a full bar. Absent: the highest one. */
  most?: number
}

/** The days are those of UTC. */
const dayName = (at: string): string =>
  new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(at))

/** Bars by day or week, below the line where a value is negative. The table below says the same for readers who cannot see the bars. */
export function Bars({ title, bars, interval, most }: BarsProps) {
  const highest = bars.reduce((top, one) => (one.value > top.value ? one : top), bars[0]!)
  const lowest = Math.min(0, ...bars.map(({ value }) => value))
  const full = most ?? Math.max(highest.value - lowest, 1)
  const zero = HEIGHT + (lowest / full) * HEIGHT
  const some = bars.filter(({ value }) => value !== 0)
  return (
    <div class="chart">
      <p class="small soft">
        {title} by {interval}
        {some.length > 0 && `, highest ${highest.said}`}
      </p>
      <svg
        viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {bars.map(({ at, value, said }, index) => {
          const height = value === 0 ? 0.75 : Math.max(2, (Math.abs(value) / full) * HEIGHT)
          return (
            <rect
              key={at}
              class={value > 0 ? 'bar-sold' : value < 0 ? 'bar-owed' : 'bar-none'}
              x={index * STEP + GAP / 2}
              width={STEP - GAP}
              y={value < 0 ? zero : zero - height}
              height={height}
            >
              <title>{`${dayName(at)}: ${said}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="small soft chart-days" aria-hidden="true">
        <span>{dayName(bars[0]!.at)}</span>
        <span>{dayName(bars[Math.floor(bars.length / 2)]!.at)}</span>
        <span>Now</span>
      </p>
      <details class="small">
        <summary>Show as a table</summary>
        <div class="wide">
          <table aria-label={`${title} by ${interval}`}>
            <thead>
              <tr>
                <th scope="col">{interval === 'day' ? 'Day' : 'Week of'}</th>
                <th scope="col" class="number">
                  Value
                </th>
              </tr>
            </thead>
            <tbody>
              {some.toReversed().map(({ at, said }) => (
                <tr key={at}>
                  <th scope="row">{dayName(at)}</th>
                  <td class="number">{said}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p class="soft">Zero values are left out. Days are in UTC.</p>
      </details>
    </div>
  )
}
