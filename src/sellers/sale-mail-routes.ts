import { sql } from 'kysely'
import type { Server } from '../kit/http.ts'
import { NEEDS_SESSION } from './guard.ts'
import { type SellerParts, TAG, refusals } from './routes.ts'
import { SaleMails } from './schema.ts'

/** The seller chooses which mails about sales to get. Mails that need an answer, such as one about a dispute, are always sent. */
export function saleMailRoutes(server: Server, { db, browsers }: Pick<SellerParts, 'db' | 'browsers'>): void {
  server.get(
    '/api/auth/mails',
    {
      schema: {
        operationId: 'getMailSettings',
        summary: 'The mails that you get',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: SaleMails, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const { rows } =
        await sql<SaleMails>`select sale_mails as "saleMails" from sellers where id = ${seller.id}`.execute(db)
      return rows[0]!
    },
  )

  server.patch(
    '/api/auth/mails',
    {
      schema: {
        operationId: 'changeMailSettings',
        summary: 'Choose the mails that you get',
        description: 'We always send mails that need you, such as one about a dispute or a failed refund.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: SaleMails,
        response: { 200: SaleMails, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const { saleMails } = request.body
      await sql`update sellers set sale_mails = ${saleMails} where id = ${seller.id}`.execute(db)
      return { saleMails }
    },
  )
}
