import { Refusal } from './errors.ts'

/** Our own bodies nest only a few levels deep. */
const MOST_DEEP = 16
/** The escape of half of a character beyond the first 65,536. */
const HALF = /\\u[dD][89a-fA-F]/

/**
 * Parses a JSON body (RFC 8259). Refuses a body with a duplicate member, because two parsers may read different values from it.
 * Refuses `__proto__` too, so that no object made from the body can reach a prototype, and a text with half a character.
 */
export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal('malformed_body', 'The body is not valid JSON.')
  }
  checkMembers(text)
  if (HALF.test(text)) checkCharacters(value, '')
  return value
}

/** Refuses half a character, which the database cannot store. Only an escape can write one. */
function checkCharacters(value: unknown, path: string): void {
  if (typeof value === 'string' && !value.isWellFormed())
    throw new Refusal('validation_failed', 'The body is not valid.', {
      fields: [{ path, message: 'must be whole characters' }],
    })
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    checkCharacters(name, path)
    checkCharacters(member, path ? `${path}.${name}` : name)
  }
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
