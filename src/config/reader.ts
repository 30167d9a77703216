import fs from 'node:fs'

export type Environment = Record<string, string | undefined>

/** Reads settings one by one, and notes what is wrong with them. */
export interface Reader {
  /** What is set, without spaces around it; undefined for nothing. Every setting can also be read from a file: `NAME_FILE`. */
  text(name: string): string | undefined
  /** What `parse` makes of it, or `fallback` where it is not set; what it makes nothing of is a problem. */
  checked<T>(name: string, fallback: T, parse: (value: string) => T | undefined, expected: string): T
  /** Each begins with the name of its setting. None repeats a value. */
  readonly problems: string[]
}

export function newReader(env: Environment): Reader {
  const problems: string[] = []
  const text = (name: string): string | undefined => {
    const file = env[`${name}_FILE`]
    if (!file) return env[name]?.trim() || undefined
    try {
      return fs.readFileSync(file, 'utf8').trim() || undefined
    } catch {
      problems.push(`${name}_FILE: ${file} cannot be read`)
    }
  }
  return {
    text,
    checked(name, fallback, parse, expected) {
      const value = text(name)
      if (value === undefined) return fallback
      const parsed = parse(value)
      if (parsed === undefined) problems.push(`${name}: expected ${expected}`)
      return parsed ?? fallback
    },
    problems,
  }
}
