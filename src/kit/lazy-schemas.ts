import AjvCompiler from '@fastify/ajv-compiler'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'
import type { FastifyValidationResult } from 'fastify/types/schema.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiles the schemas that no request has needed yet, and says how many: one that cannot be compiled throws. */
    compileSchemas(): number
  }
}

/** What a client sends is taken as it is: no text made a number, nothing removed, nothing filled in. */
const STRICT = { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true }

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

  const check = AjvCompiler()({}, { customOptions: STRICT })
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
  server.decorate('compileSchemas', () => {
    const left = [...waiting]
    for (const get of left) get()
    return left.length
  })
}
