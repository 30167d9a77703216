/** localStorage, or this page's memory where the browser forbids it, and in a frame on another site. */
const disk = () => (self === top ? localStorage : undefined)
const memory = new Map<string, string>()

export function read<T>(name: string): T | undefined {
  try {
    const text = stored(name) ?? memory.get(name)
    return text ? (JSON.parse(text) as T) : undefined
  } catch {
    return undefined
  }
}

export function write(name: string, value: unknown): void {
  try {
    if (value === undefined) disk()!.removeItem(name)
    else disk()!.setItem(name, JSON.stringify(value))
    memory.delete(name)
  } catch {
    if (value === undefined) memory.delete(name)
    else memory.set(name, JSON.stringify(value))
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
