import v8 from 'node:v8'
import vm from 'node:vm'

/** So much of files passes between two collections. */
const COLLECT_EVERY_BYTES = 8 * 1024 ** 2

let passed = 0
let collect: (() => void) | undefined

/**
 * Told of the bytes of files that pass through this process, uploads and downloads together. Each piece is a buffer outside V8's
 * heap, and its handle in the heap is so small that V8 hardly ever has a reason to collect: by itself it lets 100 MB of dead buffers
 * gather, and more with several files. A collection of the youngest objects frees them and takes a millisecond or two.
 */
export function passingBytes(bytes: number): void {
  passed += bytes
  if (passed < COLLECT_EVERY_BYTES) return
  passed = 0
  collect ??= youngCollector()
  collect()
}

function youngCollector(): () => void {
  v8.setFlagsFromString('--expose-gc')
  const gc = vm.runInNewContext('gc') as (options: { type: 'minor' }) => void
  return () => gc({ type: 'minor' })
}
