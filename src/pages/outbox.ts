import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../kit/database.ts'
import { type Server, neverCached } from '../kit/http.ts'
import { Time, refusing } from '../kit/schema.ts'

const MOST_SHOWN = 100

const Mail = Type.Object({
  id: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  sentAt: Time,
})

/** Every mail that would have been sent, for a service without a mail server: never where real users are. */
export function outboxRoutes(server: Server, db: Db): void {
  server.get(
    '/api/outbox',
    {
      schema: {
        operationId: 'listOutbox',
        summary: 'Mails that would have been sent, newest first',
        tags: ['Sandbox'],
        querystring: Type.Object({ to: Type.Optional(Type.String({ maxLength: 254, pattern: '^[^\\u0000]*$' })) }),
        response: { 200: Type.Array(Mail), ...refusing() },
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
