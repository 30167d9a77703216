import type { TestShop } from './shop.ts'

export interface Operation {
  parameters?: { name: string; in: string }[]
  requestBody?: object
}

/** Every route there is, as the service describes itself. */
export async function operations(shop: TestShop): Promise<{ path: string; methods: Record<string, Operation> }[]> {
  const { body } = await shop.call('GET', '/api/openapi.json')
  const hidden = [
    '/metrics',
    '/api/openapi.json',
    '/api/docs',
    '/api/docs/checkout',
    '/api/docs.md',
    '/docs/integrate.md',
    '/llms.txt',
    '/',
    '/pay/',
    '/order/',
    '/charge/',
    '/pricing/',
    '/outbox/',
    '/sign-in/',
    '/account/',
    '/pay',
    '/sign-in',
    '/favicon.svg',
  ]
  return [
    ...Object.entries<Record<string, Operation>>(body.paths).map(([path, methods]) => ({ path, methods })),
    ...hidden.map((path) => ({ path, methods: { get: {} } })),
  ]
}

/** A schema of the API's description with all references resolved. */
export function wholeSchema(api: { components: object }, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => wholeSchema(api, one))
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema) {
    const { schemas } = api.components as { schemas: Record<string, unknown> }
    return wholeSchema(api, schemas[String(schema.$ref).split('/').at(-1)!])
  }
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, wholeSchema(api, value)]))
}
