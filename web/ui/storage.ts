/** localStorage, or this page's memory where the browser forbids it, and in a frame on another site. */
const disk = () => (self === top ? localStorage : undefined)
/** What the disk did not take, and what it had at that moment. If it has something else by now, another tab has written that since. */
const memory = new Map<string, [onDisk: string | null, text: string | undefined]>()

export function read<T>(name: string): T | undefined {
  try {
    const found = stored(name)
    const [onDisk, kept] = memory.get(name) ?? []
    const text = found === onDisk ? kept : found
    return text ? (JSON.parse(text) as T) : undefined
  } catch {
    return undefined
  }
}

export function write(name: string, value: unknown): void {
  const text = JSON.stringify(value) as string | undefined
  memory.delete(name)
  try {
    if (text === undefined) disk()!.removeItem(name)
    else disk()!.setItem(name, text)
  } catch {
    memory.set(name, [stored(name), text])
  }
}

/** All names with this beginning. */
export function names(start: string): string[] {
  try {
    return Object.keys(disk()!).filter((name) => name.startsWith(start))
  } catch {
    return [...memory.keys()].filter((name) => name.startsWith(start))
  }
}

/** Calls back when another tab has written this name (or cleared everything). */
export function listen(name: string, changed: () => void): void {
  addEventListener('storage', (event) => {
    if (event.key === name || event.key === null) changed()
  })
}

function stored(name: string): string | null {
  try {
    return disk()!.getItem(name)
  } catch {
    return null
  }
}
