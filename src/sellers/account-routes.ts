import { canonicalEmail } from '../kit/email.ts'
import type { Server } from '../kit/http.ts'
import { type Limit, countUses, refuseBeyond } from '../kit/limits.ts'
import { changeEmail } from './change-email.ts'
import { changeSeller } from './change-seller.ts'
import { findAwaited } from './codes.ts'
import { refusing } from '../kit/schema.ts'
import { NEEDS_SESSION, refuseUnlessRecent, sellerView } from './guard.ts'
import { listEvents } from './history.ts'
import { type SellerParts, TAG, refusals } from './routes.ts'
import { saleMailRoutes } from './sale-mail-routes.ts'
import { CodeSent, EmailChange, EmailVerification, History, SellerChange, SignedInSeller } from './schema.ts'
import { sessionRoutes } from './session-routes.ts'

type AccountParts = SellerParts & { secrets: readonly string[]; supportLimit: Limit | undefined }

const TOO_MANY = 'You have changed the support address many times. Please wait a little.'

/** The account of the signed-in seller: sessions, history, name, mailbox, mails. */
export function accountRoutes(server: Server, parts: AccountParts): void {
  saleMailRoutes(server, parts)
  sessionRoutes(server, parts)
  listAccountEventsRoute(server, parts)
  renameSellerRoute(server, parts)
  requestEmailChangeRoute(server, parts)
  verifyEmailChangeRoute(server, parts)
}

function listAccountEventsRoute(server: Server, { db, browsers }: AccountParts): void {
  server.get(
    '/api/auth/history',
    {
      schema: {
        operationId: 'listAccountEvents',
        summary: 'Changes to the security of the account',
        tags: TAG,
        security: NEEDS_SESSION,
        response: { 200: History, ...refusals },
      },
    },
    async (request, reply) => {
      const { seller } = await browsers.signedIn(request, reply)
      const events = await listEvents(db, seller.id)
      return { items: events.map(({ at, ...event }) => ({ at: at.toISOString(), ...event })) }
    },
  )
}

function renameSellerRoute(server: Server, parts: AccountParts): void {
  const { db, browsers, supportLimit } = parts
  server.patch(
    '/api/auth/seller',
    {
      schema: {
        operationId: 'renameSeller',
        summary: 'Change the name and the support address that buyers read',
        description:
          'Fields that are absent stay as they are. Another support address needs a sign-in of the last ten minutes, and the owner gets a mail about it.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: SellerChange,
        response: { 200: SignedInSeller, ...refusing('recent_sign_in_required', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const signedIn = await browsers.signedIn(request, reply)
      const { name, supportEmail: given } = request.body
      const supportEmail = given && canonicalEmail(given)
      // a thief of a session must not redirect the buyers' mails, nor fill the owner's mailbox and history
      if (supportEmail !== undefined && supportEmail !== signedIn.seller.supportEmail) {
        refuseUnlessRecent(signedIn)
        if (supportLimit)
          refuseBeyond(await countUses(db, [{ key: `support ${signedIn.seller.id}`, limit: supportLimit }]), TOO_MANY)
      }
      const seller = await changeSeller(parts, signedIn, { name: name?.trim(), supportEmail })
      return { seller: sellerView(seller) }
    },
  )
}

function requestEmailChangeRoute(server: Server, { browsers, sendCode }: AccountParts): void {
  server.post(
    '/api/auth/email',
    {
      schema: {
        operationId: 'requestEmailChange',
        summary: 'Move the account to another mailbox',
        description:
          'Needs a sign-in of the last ten minutes. The new mailbox gets a code. Nothing changes until the seller types it.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: EmailChange,
        response: { 202: CodeSent, ...refusing('recent_sign_in_required', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const { id: sessionId } = await browsers.recentlySignedIn(request, reply)
      const email = canonicalEmail(request.body.email)
      const { holder, keep } = browsers.newCodeHolder(request)
      const { resendAfterSeconds: resendAfter } = await sendCode({
        email,
        purpose: 'change_email',
        sessionId,
        asker: browsers.counted(request, email),
        ...holder,
      })
      keep(reply)
      return reply.code(202).send({ resendAfter })
    },
  )
}

function verifyEmailChangeRoute(server: Server, parts: AccountParts): void {
  const { db, cookies, browsers } = parts
  server.post(
    '/api/auth/email/verify',
    {
      schema: {
        operationId: 'verifyEmailChange',
        summary: 'Prove the new mailbox',
        description:
          'Works only in the session and the browser that requested the code. The old mailbox gets a mail, and all other sessions end.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: EmailVerification,
        response: { 200: SignedInSeller, ...refusing('invalid_code', 'email_taken', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const signedIn = await browsers.signedIn(request, reply)
      const browserHash = browsers.codeHolder(request)
      const awaited = browserHash && (await findAwaited(db, browserHash, 'change_email'))
      // wrong codes count for the mailbox that the code was sent to
      const asker = browsers.counted(request, awaited?.email ?? signedIn.seller.email)
      const seller = await changeEmail(parts, signedIn, { code: request.body.code, browserHash }, asker)
      cookies.clear(reply, 'code')
      browsers.know(reply, seller.email)
      return { seller: sellerView(seller) }
    },
  )
}
