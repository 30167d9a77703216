import type { JsonSchema } from './examples.ts'

/** One field of a body or an answer, as the documents show it. */
export interface Row {
  name: string
  must: boolean
  words: string
}

/** The fields of a schema, with those inside of them: `items[].amount`. */
export function rowsOf(schema: JsonSchema, prefix = ''): Row[] {
  const one = schema.items ?? schema.anyOf?.find(({ properties }) => properties) ?? schema
  return Object.entries(one.properties ?? {}).flatMap(([name, member]) => [
    {
      name: prefix + name,
      must: one.required?.includes(name) === true,
      words: sentences(typeOf(member), member.description),
    },
    ...rowsOf(member, `${prefix}${name}${member.items ? '[]' : ''}.`),
  ])
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map(String).join(' | ')
  if (schema.const !== undefined) return String(schema.const)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  return schema.items ? `${typeOf(schema.items)}[]` : (schema.type ?? 'any')
}

export const sentences = (...parts: (string | undefined)[]): string =>
  parts.flatMap((part) => (part ? [/[.!?]$/.test(part) ? part : `${part}.`] : [])).join(' ')

/** Names the credentials that a request must bring. */
export function needed(security: readonly object[] = []): string | undefined {
  const ways = (security as readonly Record<string, string[]>[]).map(({ session, apiKey = [] }) =>
    session ? 'a session' : ['a key', ...apiKey.map((scope) => `with \`${scope}\``)].join(' '),
  )
  return ways.length > 0 ? `Needs ${ways.join(', or ')}` : undefined
}
