/** Line drawings on a grid of 24. They decorate: the word beside them carries the meaning. */
const SHAPES = {
  card: 'M3 6.5A1.5 1.5 0 0 1 4.5 5h15A1.5 1.5 0 0 1 21 6.5v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5zM3 9.5h18M6.5 15h4',
  debit:
    'M21 11V6.5A1.5 1.5 0 0 0 19.5 5h-15A1.5 1.5 0 0 0 3 6.5v11A1.5 1.5 0 0 0 4.5 19H12M3 9.5h18M15 16.5h6m-2.5-2.5 2.5 2.5-2.5 2.5',
  bank_transfer: 'M3.5 9.5 12 4.5l8.5 5zM6 10v7m4-7v7m4-7v7m4-7v7M3.5 20h17',
  upi: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2.5v2.5H14zM20 14v2.5M14 20h2.5M20 20h-.1',
  apple_pay:
    'M8 3h8a1.5 1.5 0 0 1 1.5 1.5v15A1.5 1.5 0 0 1 16 21H8a1.5 1.5 0 0 1-1.5-1.5v-15A1.5 1.5 0 0 1 8 3zM10.5 18.5h3M9.5 11l2 2 3-3.5',
  google_pay: 'M6.5 10.5a2 2 0 0 1 0 3M10 8.5a5 5 0 0 1 0 7M13.5 6.5a8.5 8.5 0 0 1 0 11M17 4.5a12 12 0 0 1 0 15',
  wallet:
    'M18 8V5.5A1.5 1.5 0 0 0 16.5 4H5.5a2 2 0 0 0 0 4H19.5A1.5 1.5 0 0 1 21 9.5v9a1.5 1.5 0 0 1-1.5 1.5h-14A2 2 0 0 1 3.5 18V6M16.5 14h.1',
  check: 'M5 12.5 10 17.5 19.5 7',
  clock: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 7.5V12l3 2',
  alert: 'M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 7.5v5.5M12 16.3v.1',
  download: 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 19.5h15',
  file: 'M6 3.5h8l4.5 4.5v12.5H6zM14 3.5V8h4.5',
  mail: 'M3.5 6h17v12.5h-17zM4 6.5l8 6.5 8-6.5',
  copy: 'M9 9h11v11H9zM5.5 15H4V4h11v1.5',
  flask: 'M9.5 3.5h5M10.5 3.5v6L5 18.5a1.3 1.3 0 0 0 1.1 2h11.8a1.3 1.3 0 0 0 1.1-2l-5.5-9v-6M7.5 15h9',
  lock: 'M6 10.5h12v9.5H6zM8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5',
  back: 'M9 6 4 11l5 5M4.5 11H14a5 5 0 0 1 5 5v2',
} as const

export type IconName = keyof typeof SHAPES

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={SHAPES[name]} />
  </svg>
)
