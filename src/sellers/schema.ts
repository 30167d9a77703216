import { Type } from 'typebox'
import { EMAIL_LONGEST, EMAIL_PATTERN } from '../kit/email.ts'
import { idPattern } from '../kit/ids.ts'
import { Code, Time } from '../kit/schema.ts'
import { STANDINGS } from './standing.ts'

const Email = Type.String({
  pattern: EMAIL_PATTERN,
  maxLength: EMAIL_LONGEST,
  description: 'One address. We trim it and convert it to lower case.',
})
const PASSWORD_SHORTEST = 12
const PASSWORD_LONGEST = 128
/** A longer text cannot be a password, so it is not hashed. */
const Password = Type.String({ minLength: 1, maxLength: PASSWORD_LONGEST })

export const Seller = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'The name for buyers.' }),
  email: Type.String(),
  supportEmail: Type.Union([Type.String(), Type.Null()], {
    description: 'The address where buyers reach the seller. Null: `email`.',
  }),
  hasPassword: Type.Boolean(),
  standing: Type.Enum([...STANDINGS], {
    description:
      '`active`: the shop sells. `awaiting_approval`: everything can be prepared, and nothing is sold before the operator approves the shop. `suspended`: the operator has stopped the sales.',
  }),
  createdAt: Time,
})
export type Seller = Type.Static<typeof Seller>

const Method = Type.Union([Type.Literal('code'), Type.Literal('password'), Type.Literal('idp')])
export type Method = Type.Static<typeof Method>

export const SignedInSeller = Type.Object({ seller: Seller })
export const CurrentSession = Type.Object({
  seller: Seller,
  session: Type.Object({
    id: Type.String(),
    method: Method,
    createdAt: Time,
    recentUntil: Type.String({
      description:
        'Until this time the seller can change the mailbox, the password and the linked identities. Later a new sign-in is needed.',
    }),
  }),
})
export type CurrentSession = Type.Static<typeof CurrentSession>

export const CodeRequest = Type.Object({
  email: Email,
  again: Type.Optional(
    Type.Boolean({ description: 'Send another code for the same purpose, also for linking an account at a provider.' }),
  ),
})
export const EmailChange = Type.Object({ email: Email })
export const CodeSent = Type.Object({
  resendAfter: Type.Integer({ description: 'Seconds until the client may request another code.' }),
})
export const WaitingFor = Type.Object({
  email: Type.String(),
  resendAfter: Type.Integer(),
  provider: Type.Boolean({ description: 'An identity provider sent the browser. The right code links its account.' }),
})
export const CodeVerification = Type.Object({ email: Email, code: Code })
export const EmailVerification = Type.Object({ code: Code })
export const PasswordSignIn = Type.Object({ email: Email, password: Password })
export const PasswordChange = Type.Object({
  newPassword: Type.String({ minLength: PASSWORD_SHORTEST, maxLength: PASSWORD_LONGEST }),
  currentPassword: Type.Optional(Password),
})
/** A pattern without control characters, and without characters that change the direction of the text after them. */
export const PLAIN_TEXT = '^(?=.*\\S)[^\\p{Cc}\\u202a-\\u202e\\u2066-\\u2069]*$'
export const SellerChange = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: PLAIN_TEXT,
      }),
    ),
    supportEmail: Type.Optional(
      Type.Union([Email, Type.Null()], { description: 'Null: buyers get the address of the account.' }),
    ),
  },
  { minProperties: 1 },
)

export const SaleMails = Type.Object({
  saleMails: Type.Enum(['each', 'daily', 'off'], {
    description:
      'Mails about sales. `each`: a mail within a minute or two, which lists several sales when many come; free orders once a day. `daily`: one mail a day. `off`: none.',
  }),
})
export type SaleMails = Type.Static<typeof SaleMails>

export const Sessions = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      current: Type.Boolean(),
      method: Method,
      browser: Type.String({ description: 'For example "Firefox on Linux".' }),
      createdAt: Time,
      lastSeenAt: Time,
    }),
  ),
})
export type Sessions = Type.Static<typeof Sessions>
export const History = Type.Object({
  items: Type.Array(
    Type.Object({
      at: Time,
      what: Type.Enum(
        [
          'identity_linked',
          'identity_added',
          'identity_unlinked',
          'password_changed',
          'email_changed',
          'support_email_changed',
          'key_created',
          'key_rolled',
          'key_revoked',
          'payout_details_changed',
          'payout_details_removed',
        ],
        { description: '`identity_added`: a further account of a provider that has had one linked before.' },
      ),
      issuer: Type.Union([Type.String(), Type.Null()], { description: 'For a provider’s account: the provider.' }),
      email: Type.Union([Type.String(), Type.Null()], {
        description:
          'For a provider’s account: its address at the provider. For the seller’s mailbox or support address: the new one.',
      }),
      keyName: Type.Union([Type.String(), Type.Null()], { description: 'For an API key: its name.' }),
      currency: Type.Union([Type.String(), Type.Null()], { description: 'For payout details: their currency.' }),
    }),
    { description: 'Newest first, at most fifty.' },
  ),
})
export type History = Type.Static<typeof History>
export const SessionParams = Type.Object({ sessionId: Type.String({ pattern: idPattern('ses') }) })

export const Identities = Type.Object({
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      issuer: Type.String(),
      email: Type.Union([Type.String(), Type.Null()]),
      linkedAt: Time,
    }),
  ),
})
export type Identities = Type.Static<typeof Identities>
export const IdentityParams = Type.Object({ identityId: Type.String({ pattern: idPattern('idn') }) })
export const Providers = Type.Object({ idp: Type.Boolean() })
export const LinkStart = Type.Object({ returnTo: Type.Optional(Type.String({ maxLength: 500 })) })
export const LinkStarted = Type.Object({
  url: Type.String({ description: 'The address of the sign-in at the provider. The browser must open it.' }),
})
