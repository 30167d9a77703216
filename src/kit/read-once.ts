/**
 * Reads each value on first use and keeps it. All who wait share one read. A failed read is forgotten, so that the next use reads again: an
 * error such as EMFILE passes.
 */
export function readOnce<Key, Value>(read: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const kept = new Map<Key, Promise<Value>>()
  return (key) => {
    let value = kept.get(key)
    if (!value) {
      value = read(key)
      kept.set(key, value)
      value.catch(() => kept.delete(key))
    }
    return value
  }
}
