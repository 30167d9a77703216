import type { FastifyReply, FastifyRequest } from 'fastify'
import { addCookie, cookieKind, cookiesOf } from '../kit/cookies.ts'
import { type Locale, localeOf, localeOfTag } from '../kit/locales.ts'

const YEAR_SECONDS = 365 * 86_400

export type LanguageOf = (request: FastifyRequest, reply: FastifyReply) => Locale

/**
 * The language of a page: the one that its address names (`?locale=de`), else the one that the buyer chose before, else the browser's.
 * A choice is kept in a cookie that holds nothing else.
 */
export function languageChooser(appUrl: string): LanguageOf {
  const { common, host } = cookieKind(appUrl)
  const name = `${host}till_locale`
  return (request, reply) => {
    const { locale } = request.query as { locale?: unknown }
    const asked = typeof locale === 'string' ? localeOfTag(locale) : undefined
    if (asked) addCookie(reply, { name, value: asked, ...common, sameSite: 'lax', maxAge: YEAR_SECONDS })
    const chosen = asked ?? localeOfTag(cookiesOf(request)[name] ?? '') ?? localeOf(request.headers['accept-language'])
    const vary = [reply.getHeader('vary'), 'accept-language, cookie'].filter(Boolean).join(', ')
    reply.header('content-language', chosen).header('vary', vary)
    return chosen
  }
}
