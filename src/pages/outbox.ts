import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { refuseFromAfar } from '../kit/hosts.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { Time, refusing } from '../kit/schema.ts'
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
  /** What the reader proves. Absent: only this machine reads it. */
  token: string | undefined
  /** Where the page is, for who may see it. */
  url: string
}

/** The token is the same at every start and in every process, so that a browser may keep it. */
export function openOutbox(
  { demoOnNetwork, secrets }: { demoOnNetwork: boolean; secrets: readonly string[] },
  appUrl: string,
): Outbox {
  const token = demoOnNetwork ? derivedKey(secrets[0]!, 'outbox').export().toString('base64url') : undefined
  return { token, url: `${appUrl}/outbox/${token ? `#token=${token}` : ''}` }
}

/**
 * Every mail that would have been sent, for a service without a mail server: never where real users are. It shows the codes that
 * open accounts, so only this machine reads it, or who has the token, where there is one.
 */
export function outboxRoutes(server: Server, db: Db, { token }: Outbox): void {
  server.get(
    '/api/outbox',
    {
      schema: {
        operationId: 'listOutbox',
        summary: 'Mails that would have been sent, newest first',
        tags: ['Sandbox'],
        querystring: Type.Object({ to: Type.Optional(Type.String({ maxLength: 254, pattern: '^[^\\u0000]*$' })) }),
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
