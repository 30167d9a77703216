import v8 from 'node:v8'
import vm from 'node:vm'

/** One garbage collection after this many bytes of files. */
const COLLECT_EVERY_BYTES = 8 * 1024 ** 2

let passed = 0
let collect: (() => void) | undefined

/**
 * Uploads and downloads report here the bytes of files that they pass on. Each piece is a buffer outside V8's heap with a very small
 * handle inside it, so V8 sees little reason to collect and lets 100 MB of unused buffers gather, and more with several files. A
 * collection of the youngest objects frees them in a millisecond or two.
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
