import fs from 'node:fs'

export type Environment = Record<string, string | undefined>

/** Reads settings one by one, and collects the wrong ones. */
export interface Reader {
  /** The trimmed value, from the environment or from the file that `NAME_FILE` names. Undefined when it is empty or not set. */
  text(name: string): string | undefined
  /** The parsed value, or `fallback` when the setting is not set. When `parse` returns undefined, the setting is a problem. */
  checked<T>(name: string, fallback: T, parse: (value: string) => T | undefined, expected: string): T
  /** The names of all settings that were asked for. */
  readonly names: ReadonlySet<string>
  /** Each begins with the setting's name, and none contains its value, which can be a secret. */
  readonly problems: string[]
}

export function newReader(env: Environment): Reader {
  const problems: string[] = []
  const names = new Set<string>()
  const text = (name: string): string | undefined => {
    names.add(name)
    const file = env[`${name}_FILE`]
    if (!file) return env[name]?.trim() || undefined
    try {
      const value = fs.readFileSync(file, 'utf8').trim()
      if (value) return value
      problems.push(`${name}_FILE: ${file} is empty`)
    } catch {
      problems.push(`${name}_FILE: ${file} cannot be read`)
    }
    return undefined
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
    names,
    problems,
  }
}
