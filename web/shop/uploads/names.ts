const LONGEST_NAME = 255

/**
 * `book.pdf` → `book (2).pdf`: the first such name that is free. Upper and lower case are the same, as on most disks.
 */
export function freeName(name: string, taken: Iterable<string>): string {
  const names = new Set([...taken].map((one) => one.toLowerCase()))
  if (!names.has(name.toLowerCase())) return name
  const { stem, ending } = partsOf(name)
  for (let number = 2; ; number++) {
    const mark = ` (${number})${ending}`
    const free = [...stem].slice(0, LONGEST_NAME - [...mark].length).join('') + mark
    if (!names.has(free.toLowerCase())) return free
  }
}

/** Whether it is the name itself, or one that `freeName` made from it. */
export function isNameOf(given: string, name: string): boolean {
  const { stem, ending } = partsOf(given)
  return given === name || stem.replace(/ \(\d+\)$/, '') + ending === name
}

function partsOf(name: string): { stem: string; ending: string } {
  const at = name.lastIndexOf('.')
  return at > 0 ? { stem: name.slice(0, at), ending: name.slice(at) } : { stem: name, ending: '' }
}
