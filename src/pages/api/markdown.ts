import type { Description, Media, Operation } from './description.ts'
import type { JsonSchema } from './examples.ts'
import { needed, rowsOf, sentences } from './rows.ts'

/** Renders the description as Markdown. */
export function docsMarkdown({ info, tags = [], paths }: Description): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
  )
  const sections = tags.flatMap(({ name, description = '' }) => {
    const mine = all.filter(({ operation }) => operation.tags?.includes(name))
    if (mine.length === 0) return []
    return [`## ${name}`, description, ...mine.flatMap(({ route, operation }) => partsOf(route, operation))]
  })
  const intro = sentences(info.description, 'For programs: /api/openapi.json. `*` marks required fields')
  return `${[`# ${info.title}: the API`, intro, ...sections].filter(Boolean).join('\n\n')}\n`
}

function partsOf(route: string, operation: Operation): string[] {
  const { summary, description, security, parameters = [], requestBody, responses } = operation
  const answers = Object.entries(responses)
  const refused = answers.flatMap(([status, { content = {} }]) =>
    Object.keys(content['application/problem+json']?.examples ?? {}).map((code) => `${status} \`${code}\``),
  )
  const given = parameters.map((one) => ({
    name: one.name,
    must: one.required === true,
    words: sentences(`In the ${one.in === 'path' ? 'address' : one.in}`, one.description),
  }))
  return [
    `### ${route}`,
    sentences(summary, description, needed(security)),
    listed('Parameters', given),
    ...Object.entries(requestBody?.content ?? {}).map(([type, media]) => mediaText('Body', type, media)),
    ...answers
      .filter(([status]) => /^[23]/.test(status))
      .flatMap(([status, { description: what = '', content = {} }]) => {
        const kinds = Object.entries(content).map(([type, media]) => mediaText(`Answer ${status}`, type, media))
        return kinds.length > 0 ? kinds : [`Answer ${status}: ${what}`]
      }),
    refused.length > 0 ? `Refused with: ${refused.join(', ')}.` : '',
  ]
}

function mediaText(title: string, type: string, { schema = {} }: Media): string {
  const named = type === 'application/json' ? title : `${title} (${type})`
  const rows = rowsOf(schema as JsonSchema)
  return rows.length > 0 ? listed(named, rows) : `${named}.`
}

const listed = (title: string, rows: readonly { name: string; must: boolean; words: string }[]): string =>
  rows.length === 0
    ? ''
    : [`${title}:`, '', ...rows.map(({ name, must, words }) => `- \`${name}\`${must ? ' *' : ''}: ${words.replaceAll('\n', ' ')}`)].join('\n') // oxfmt-ignore
