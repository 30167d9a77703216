import { Refusal } from './errors.ts'

/** Our own bodies nest only a few levels deep. */
const MOST_DEEP = 16

/**
 * Parses a JSON body (RFC 8259). Refuses a body with a duplicate member, because two parsers may read different values from it.
 * Refuses `__proto__` too, so that no object made from the body can reach a prototype.
 */
export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal('malformed_body', 'The body is not valid JSON.')
  }
  checkMembers(text)
  return value
}

/** Checks the members' names in one pass over a valid JSON text: every string before a colon is a name. */
function checkMembers(text: string): void {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const c = text[at]
    if (c === '{' || c === '[') {
      if (open.push(c === '{' ? new Set() : undefined) > MOST_DEEP)
        throw new Refusal('malformed_body', 'The body is nested too deeply.')
    } else if (c === '}' || c === ']') {
      open.pop()
    } else if (c === '"') {
      const start = at
      for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++
      const members = open.at(-1)
      if (!members || !isBeforeColon(text, at + 1)) continue
      const name = JSON.parse(text.slice(start, at + 1)) as string
      if (name === '__proto__') throw new Refusal('malformed_body', 'The body has a member that is not allowed.')
      if (members.has(name)) throw new Refusal('malformed_body', 'The body has a member twice.')
      members.add(name)
    }
  }
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (' \t\n\r'.includes(text[at] ?? ':')) at++
  return text[at] === ':'
}
