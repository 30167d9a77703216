import { type Db, retryConflicts } from '../kit/database.ts'
import { canonicalEmail } from '../kit/email.ts'
import { Refusal } from '../kit/errors.ts'
import { type Server, neverCached } from '../kit/http.ts'
import type { Jobs } from '../kit/jobs.ts'
import { lookAtUse } from '../kit/limits.ts'
import { DONE, refusing } from '../kit/schema.ts'
import { type SendCode, codeKey, findAwaited, resendIn } from './codes.ts'
import type { Cookies } from './cookies.ts'
import { type Browsers, NEEDS_SESSION, type SignInLimits, sellerView } from './guard.ts'
import { changePassword, signInByPassword } from './passwords.ts'
import {
  CodeRequest,
  CodeSent,
  CodeVerification,
  PasswordChange,
  PasswordSignIn,
  SignedInSeller,
  WaitingFor,
} from './schema.ts'
import type { SignupOf } from './sellers.ts'
import { endSessions } from './sessions.ts'
import { verifyCode } from './verify.ts'

export interface SellerParts {
  db: Db
  jobs: Jobs
  cookies: Cookies
  browsers: Browsers
  sendCode: SendCode
  limits: SignInLimits
}

type SignInParts = SellerParts & { secrets: readonly string[]; signupOf: SignupOf }

export const refusals = refusing()
export const TAG = ['Sign-in']
export const NOTHING = { ...DONE, ...refusals }

/** The two ways to sign in without a provider: a code by mail, and a password. A seller who has lost one of them uses the other. */
export function signInRoutes(server: Server, parts: SignInParts): void {
  requestCodeRoute(server, parts)
  getAwaitedCodeRoute(server, parts)
  verifyCodeRoute(server, parts)
  signInByPasswordRoute(server, parts)
  setPasswordRoute(server, parts)
  signOutRoute(server, parts)
}

function requestCodeRoute(server: Server, { browsers, sendCode }: SellerParts): void {
  server.post(
    '/api/auth/otp',
    {
      schema: {
        operationId: 'requestCode',
        summary: 'Send a code to a mailbox',
        description:
          'The code has six digits. It works once, for ten minutes and five tries, and only in the browser that requested it. The response is the same whether the mailbox has an account or not.',
        tags: TAG,
        body: CodeRequest,
        response: { 202: CodeSent, ...refusing('rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const email = canonicalEmail(request.body.email)
      const { holder, keep } = browsers.newCodeHolder(request, { again: request.body.again })
      const asker = browsers.counted(request, email)
      const { resendAfterSeconds: resendAfter } = await sendCode({ email, purpose: 'sign_in', asker, ...holder })
      keep(reply)
      return reply.code(202).send({ resendAfter })
    },
  )
}

function getAwaitedCodeRoute(server: Server, { db, browsers, limits }: SellerParts): void {
  server.get(
    '/api/auth/otp',
    {
      schema: {
        operationId: 'getAwaitedCode',
        summary: 'The code this browser waits for',
        description:
          'Tells a reloaded page, or one after a redirect from the identity provider, which mailbox got the code.',
        tags: TAG,
        response: { 200: WaitingFor, ...refusing('code_not_found') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const holder = browsers.codeHolder(request)
      const awaited = holder && (await findAwaited(db, holder, 'sign_in'))
      if (!awaited) throw new Refusal('code_not_found', 'This browser is not waiting for a code.')
      const { email, ageSeconds, issuer } = awaited
      const provider = issuer !== null
      const limit = limits.code
      const asker = browsers.counted(request, email, { byProvider: provider })
      const taken = limit && (await lookAtUse(db, { key: codeKey(asker), limit }))
      return { email, resendAfter: taken?.within === false ? taken.resetSeconds : resendIn(ageSeconds), provider }
    },
  )
}

function verifyCodeRoute(server: Server, parts: SignInParts): void {
  const { browsers } = parts
  server.post(
    '/api/auth/otp/verify',
    {
      schema: {
        operationId: 'verifyCode',
        summary: 'Sign in by a code',
        description: 'A mailbox without an account gets one, unless sign-up is closed.',
        tags: TAG,
        body: CodeVerification,
        response: { 200: SignedInSeller, ...refusing('invalid_code', 'cookie_missing', 'rate_limited') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const email = canonicalEmail(request.body.email)
      const given = { email, code: request.body.code, browserHash: browsers.neededCodeHolder(request) }
      const asker = browsers.counted(request, email)
      const session = await verifyCode(parts, { ...given, browser: browsers.browser(request) }, asker)
      browsers.begin(reply, session)
      return { seller: sellerView(session.seller) }
    },
  )
}

function signInByPasswordRoute(server: Server, { db, jobs, browsers, limits }: SellerParts): void {
  const passwords = { db, jobs, limit: limits.password }
  server.post(
    '/api/auth/password',
    {
      schema: {
        operationId: 'signInByPassword',
        summary: 'Sign in by a password',
        description:
          'The response is the same for a wrong password, an unknown mailbox and an account without a password. A seller who forgot the password signs in by a code.',
        tags: TAG,
        body: PasswordSignIn,
        response: { 200: SignedInSeller, ...refusing('invalid_credentials', 'rate_limited', 'sign_in_busy') },
      },
    },
    async (request, reply) => {
      neverCached(reply)
      const email = canonicalEmail(request.body.email)
      const session = await signInByPassword(passwords, {
        email,
        password: request.body.password,
        asker: browsers.counted(request, email),
        browser: browsers.browser(request),
      })
      browsers.begin(reply, session)
      return { seller: sellerView(session.seller) }
    },
  )
}

function setPasswordRoute(server: Server, { db, jobs, browsers, limits }: SellerParts): void {
  const passwords = { db, jobs, limit: limits.password }
  server.put(
    '/api/auth/password',
    {
      schema: {
        operationId: 'setPassword',
        summary: 'Set or change the password',
        description:
          'Needs a sign-in of the last ten minutes, or the present password. 12 to 128 characters, and not a common password. All other sessions end; API keys go on working.',
        tags: TAG,
        security: NEEDS_SESSION,
        body: PasswordChange,
        response: {
          ...NOTHING,
          ...refusing(
            'password_too_common',
            'wrong_password',
            'recent_sign_in_required',
            'rate_limited',
            'sign_in_busy',
          ),
        },
      },
    },
    async (request, reply) => {
      const signedIn = await browsers.signedIn(request, reply)
      const { newPassword, currentPassword } = request.body
      const asker = browsers.counted(request, signedIn.seller.email)
      await changePassword(passwords, signedIn, { newPassword, currentPassword, asker })
      return reply.code(204).send(null)
    },
  )
}

function signOutRoute(server: Server, { db, cookies, browsers }: SellerParts): void {
  server.delete(
    '/api/auth/session',
    { schema: { operationId: 'signOut', summary: 'Sign out', tags: TAG, response: NOTHING } },
    async (request, reply) => {
      neverCached(reply)
      await retryConflicts(() => endSessions(db, browsers.browser(request).tokens))
      cookies.clear(reply, 'session')
      return reply.code(204).send(null)
    },
  )
}
