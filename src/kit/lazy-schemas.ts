import AjvCompiler, { type Ajv, type ErrorObject } from '@fastify/ajv-compiler'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'
import type { FastifyValidationResult } from 'fastify/types/schema.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiles the schemas that no request has needed yet, and says how many: one that cannot be compiled throws. */
    compileSchemas(): number
    /** Those that the schemas compiled so far hold what clients send against. */
    schemaPatterns: ReadonlySet<string>
  }
}

/** What a client sends is taken as it is: no text made a number, nothing removed, nothing filled in. */
const STRICT = { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true }

/** How long a text may be whose schema gives it a pattern and no length: ids, hashes, codes and moments are shorter. */
const LONGEST_WITHOUT_LIMIT = 1000

/**
 * `pattern`, but on a text that its schema allows to be so long. All that is wrong with a request is named at once, so the library
 * would match a text that is far too long as well, before anybody is asked who they are: a pattern that is a little slow would then
 * hold up everybody. A text that is not matched here is refused for its length.
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
 * What Fastify makes of each schema is made when the first request needs it: some 200 of them are half of what a start costs,
 * and most routes wait long for their first request.
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
    const left = [...waiting]
    for (const get of left) get()
    return left.length
  })
}
