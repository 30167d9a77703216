import type { FastifyError, FastifyRequest } from 'fastify'
import Schema from 'typebox/schema'
import type { Db } from '../kit/database.ts'
import { type Problem, problemOf } from '../kit/errors.ts'
import { refusalFor } from '../kit/refusals.ts'
import type { FoundKey } from '../sellers/keys/find.ts'
import { isAllowed, type Security } from '../sellers/keys/scopes.ts'
import { addConfirmation } from './confirmations.ts'
import { type Arguments, type Inside, type KnownRoute, inputSchema, requestOf, wrongArgument } from './inside.ts'
import { TOOLS, type Tool } from './tools.ts'

interface CallParts {
  db: Db
  inside: Inside
  appUrl: string
}

export interface ToolAnswer {
  isRefused: boolean
  said: Record<string, unknown>
}

const PROPOSES =
  'This only proposes it: the answer is a link, which the seller opens and confirms. Nothing happens until then, and you cannot confirm it.'

/** The tools that a key may use, as the protocol lists them. */
export function listTools(inside: Inside, { scopes }: FoundKey) {
  return TOOLS.filter((tool) => isAllowed(securityOf(inside, tool), scopes)).map((tool) => {
    const { summary = '', description = '', method, ...route } = inside.route(tool.operationId)
    const isRead = method === 'GET'
    const about = [`${summary}.`, tool.propose ? PROPOSES : '', description].filter(Boolean).join(' ')
    return {
      name: tool.name,
      title: summary,
      description: about,
      inputSchema: inputSchema({ ...route, method }, tool.without) as { type: 'object' },
      annotations: { readOnlyHint: isRead, destructiveHint: false, openWorldHint: !isRead && !tool.propose },
    }
  })
}

/** A proposal needs the scopes of its look at the shop. */
const securityOf = (inside: Inside, { operationId, propose }: Tool): Security =>
  (inside.route(propose?.look.operationId ?? operationId).security ?? []) as Security

/**
 * Makes the request that a tool stands for with the caller's own key, or stores it for the seller to confirm. A refusal is the
 * route's own, `validation_failed` for wrong arguments, or `too_many_confirmations`. Undefined: there is no such tool.
 */
export async function callTool(
  { db, inside, appUrl }: CallParts,
  request: FastifyRequest,
  key: FoundKey,
  name: string,
  asGiven: Arguments,
): Promise<ToolAnswer | undefined> {
  const tool = TOOLS.find((one) => one.name === name)
  if (!tool) return undefined
  const route = inside.route(tool.operationId)
  const given = withTexts(route, asGiven)
  const headers = { authorization: request.headers.authorization }
  try {
    refuseWrongArguments(inputSchema(route, tool.without), given)
    if (!tool.propose) {
      const { isRefused, body } = await inside.call(request, { ...requestOf(route, given), headers })
      return { isRefused, said: body }
    }
    const { look, of } = tool.propose
    const seen = await inside.call(request, {
      ...requestOf(inside.route(look.operationId), look.given(given)),
      headers,
    })
    if (seen.isRefused) return { isRefused: true, said: seen.body }
    const { title, shown, given: whole, ifMatch } = of(given, seen)
    const asked = { body: undefined, ...requestOf(route, whole) }
    const { id, expiresAt } = await addConfirmation(db, key, { tool: name, title, ...asked, ifMatch, shown })
    const url = `${appUrl}/shop/#/confirm/${id}`
    const said = {
      status: 'confirmation_required',
      confirmationId: id,
      title,
      url,
      expiresAt: expiresAt.toISOString(),
      shown,
    }
    return { isRefused: false, said }
  } catch (error) {
    // also of a defect or an outage, which is logged: the protocol's library would send its text to the program
    const refusal = refusalFor(error as FastifyError, request)
    return { isRefused: true, said: { ...(problemOf(refusal, request.id) satisfies Problem) } }
  }
}

/** All values of a query are texts. A program may give a number. */
function withTexts({ parameters = [] }: KnownRoute, given: Arguments): Arguments {
  const inQuery = new Set(parameters.flatMap((one) => (one.in === 'query' ? [one.name] : [])))
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      inQuery.has(name) && typeof value === 'number' ? String(value) : value,
    ]),
  )
}

/** The route checks its request itself. A proposal is checked here too, so that no request is proposed that would fail. */
function refuseWrongArguments(schema: ReturnType<typeof inputSchema>, given: Arguments): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(schema.properties ?? {}, name))
  if (unknown !== undefined) throw wrongArgument(unknown, 'is not known')
  const withNul = Object.entries(given).find(([, value]) => hasNul(value))
  if (withNul) throw wrongArgument(withNul[0], 'has a NUL character')
  const [, [wrong] = []] = Schema.Errors(schema as never, given)
  if (!wrong) return
  const missing = (wrong.params as { requiredProperties?: string[] }).requiredProperties?.[0]
  throw wrongArgument(missing ?? (wrong.instancePath.slice(1).replaceAll('/', '.') || 'arguments'), wrong.message)
}

/** PostgreSQL stores no NUL in a text. */
const hasNul = (value: unknown): boolean =>
  typeof value === 'string' ? value.includes('\0') : Object.entries(value ?? {}).flat().some(hasNul) // oxfmt-ignore
