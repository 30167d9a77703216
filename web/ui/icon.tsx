/** Line drawings on a grid of 24. They only decorate: the text beside them carries the meaning. */
const SHAPES = {
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

export const Icon = ({ name }: { name: IconName }) => <Drawing shape={SHAPES[name]} />

/** An icon with its own path. Without a path its place stays empty. */
export const Drawing = ({ shape }: { shape: string | undefined }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={shape} />
  </svg>
)
