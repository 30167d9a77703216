import type { FastifyReply, FastifyRequest } from 'fastify'
import { isId } from '../kit/ids.ts'
import type { Problem } from '../kit/schema.ts'
import { escapeHtml } from '../words/in-html.ts'
import type { Page } from './html.ts'

const DOWNLOADS = '/api/downloads/'
/** The refusals of a damaged link. */
const BENT = new Set(['download_link_invalid', 'validation_failed', 'not_found', 'bad_request', 'uri_too_long'])

/**
 * Turns a refusal into a page when a person follows one of our links in a browser. Programs get the JSON. Undefined: the response stays
 * as it is.
 */
export function problemPage(
  page: Page,
  appUrl: string,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): string | undefined {
  if (typeof payload !== 'string') return undefined
  if (request.method !== 'GET' || !request.headers.accept?.includes('text/html')) return undefined
  if (reply.getHeader('content-type') !== 'application/problem+json') return undefined
  const problem = JSON.parse(payload) as Problem
  reply.removeHeader('content-length')
  reply.headers({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': page.policy,
    vary: [reply.getHeader('vary'), 'Accept'].filter(Boolean).join(', '),
  })
  const shown = request.url.startsWith(DOWNLOADS) ? ofDownload(problem, request.url) : ofAnything(problem)
  const links = shown.links.map(([path, label]) => `<a class="button" href="${appUrl}${path}">${label}</a>`)
  return page.render({
    data: {},
    title: `${shown.title} · Till`,
    body: `<h1>${escapeHtml(shown.title)}</h1>
      <p class="lead">${escapeHtml(shown.text)}</p>
      <p>${links.join(' ')}</p>
      <p class="small soft">Request ${escapeHtml(problem.requestId)}</p>`,
  })
}

interface Shown {
  title: string
  text: string
  links: [path: string, label: string][]
}

/** The order's id is at the beginning of the token, also when the link is cut off. The order's page then asks for the address. */
function ofDownload({ code, title, detail }: Problem, url: string): Shown {
  const orderId = url.slice(DOWNLOADS.length).split(/[.?]/)[0]!
  const isBent = BENT.has(code)
  return {
    title: isBent ? 'The link is not valid' : title,
    text: isBent ? 'It may have been cut off or changed on its way to you.' : detail,
    links: [
      isId('ord', orderId) ? [`/order/?order=${orderId}`, 'Get a new link'] : ['/order/', 'Find your order'],
      ['/library/', 'Your library'],
    ],
  }
}

const ofAnything = ({ title, detail }: Problem): Shown => ({
  title,
  text: detail,
  links: [
    ['/', 'To the first page'],
    ['/order/', 'Find an order'],
  ],
})
