import AjvCompiler, { type Ajv, type ErrorObject } from '@fastify/ajv-compiler'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'
import type { FastifyValidationResult } from 'fastify/types/schema.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiles the schemas that no request has needed yet, and returns their number. Throws when a schema cannot be compiled. */
    compileSchemas(): number
    /** The patterns of all schemas that were compiled so far. */
    schemaPatterns: ReadonlySet<string>
  }
}

/** Clients' data stay as they are: no type conversion, no removed members, no defaults. */
const STRICT = { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true }

/** The longest text for a schema that has a pattern and no `maxLength`. Ids, hashes, codes and times are shorter. */
const LONGEST_WITHOUT_LIMIT = 1000

/**
 * Replaces the keyword `pattern` with one that skips texts longer than their schema allows; those are refused for their length. A
 * request's problems are reported all together, so the library would match even a huge text, before the sender is authenticated.
 * With a slightly slow pattern that would block the process.
 */
const boundPatterns =
  (patterns: Set<string>) =>
  (ajv: Ajv): void =>
    void ajv.removeKeyword('pattern').addKeyword({
      keyword: 'pattern',
      type: 'string',
      schemaType: 'string',
      errors: true,
      compile(pattern: string, schema) {
        const { maxLength } = schema as { maxLength?: number }
        patterns.add(pattern)
        const expression = new RegExp(pattern, 'u')
        const matches: { (text: string): boolean; errors?: Partial<ErrorObject>[] } = (text) => {
          // a character is one or two units of a text's length
          if (maxLength !== undefined && text.length > maxLength * 2) return true
          if (text.length <= (maxLength ?? LONGEST_WITHOUT_LIMIT) * 2 && expression.test(text)) return true
          matches.errors = [{ keyword: 'pattern', message: `must match pattern "${pattern}"`, params: { pattern } }]
          return false
        }
        return matches
      },
    })

/**
 * Compiles each schema when the first request needs it. Compiling all of them, about 200, would take half of the start, and most
 * routes wait long for their first request.
 */
export function compileLazily(
  server: Pick<FastifyInstance, 'setValidatorCompiler' | 'setSerializerCompiler' | 'decorate'>,
): void {
  const waiting = new Set<() => unknown>()
  const lazily = <Made>(make: () => Made): (() => Made) => {
    let made: Made | undefined
    const get = (): Made => {
      if (made !== undefined) return made
      waiting.delete(get)
      return (made = make())
    }
    waiting.add(get)
    return get
  }

  const patterns = new Set<string>()
  const check = AjvCompiler()({}, { customOptions: STRICT, onCreate: boundPatterns(patterns) })
  server.setValidatorCompiler(({ schema }) => {
    const get = lazily(() => check({ schema }) as FastifyValidationResult)
    const checked: FastifyValidationResult = (value) => {
      const made = get()
      const answer = made(value)
      checked.errors = made.errors
      return answer
    }
    return checked
  })
  const write = SerializerSelector()({}, {})
  server.setSerializerCompiler(({ schema, method, url, httpStatus = '' }) => {
    const get = lazily(() => write({ schema, method, url, httpStatus }))
    return (value) => get()(value)
  })
  server.decorate('schemaPatterns', patterns)
  server.decorate('compileSchemas', () => {
    const uncompiled = [...waiting]
    for (const get of uncompiled) get()
    return uncompiled.length
  })
}
