import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { refuseFromAfar } from '../kit/hosts.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { NO_NUL, Time, refusing } from '../kit/schema.ts'
import { derivedKey } from '../kit/signing.ts'
import { isBearer } from '../kit/tokens.ts'

const MOST_SHOWN = 100

const Mail = Type.Object({
  id: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  sentAt: Time,
})

export interface Outbox {
  /** The token that a reader needs. Undefined: only this machine can read the outbox. */
  token: string | undefined
  /** The address of the page, with the token. */
  url: string
}

/** The token is the same after every start and in every process, so that a browser can keep it. */
export function openOutbox(
  { demoOnNetwork, secrets }: { demoOnNetwork: boolean; secrets: readonly string[] },
  appUrl: string,
): Outbox {
  const token = demoOnNetwork ? derivedKey(secrets[0]!, 'outbox').export().toString('base64url') : undefined
  return { token, url: `${appUrl}/outbox/${token ? `#token=${token}` : ''}` }
}

/**
 * Shows all mails of a service without a mail server, which is never a public one. The mails have the codes that open accounts. So only
 * this machine can read them, or clients with the token if there is one.
 */
export function outboxRoutes(server: Server, db: Db, { token }: Outbox): void {
  server.get(
    '/api/outbox',
    {
      schema: {
        operationId: 'listOutbox',
        summary: 'The mails of a service without a mail server, newest first',
        tags: ['Sandbox'],
        querystring: Type.Object({
          to: Type.Optional(
            Type.String({ maxLength: 254, pattern: NO_NUL, description: 'Only mails to this address.' }),
          ),
        }),
        response: { 200: Type.Array(Mail), ...refusing('local_only', 'token_required') },
      },
      onRequest: async (request) => {
        if (token === undefined) return refuseFromAfar(request)
        if (!isBearer(request, token))
          throw new Refusal(
            'token_required',
            'Open the address of the outbox that the service printed when it started.',
          )
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const to = request.query.to?.trim().toLowerCase() || null
      const { rows } = await sql<Type.Static<typeof Mail> & { sentAt: Date }>`
        select id, recipient as "to", subject, text, html, sent_at as "sentAt"
        from outbox where ${to}::text is null or recipient = ${to}
        order by sent_at desc, id desc limit ${MOST_SHOWN}`.execute(db)
      return rows.map((mail) => ({ ...mail, sentAt: new Date(mail.sentAt).toISOString() }))
    },
  )
}
