import { sql } from 'kysely'
import { CODE_QUEUE } from '../kit/codes.ts'
import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { maskedEmail } from '../kit/email.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { codeOf, codeQueue } from './codes.ts'
import type { SignupOf } from './sellers.ts'

/** A mail to the owner about a change of the account, which somebody else may have made. */
export type Notice =
  | {
      kind: 'password_changed' | 'identity_linked' | 'identity_added' | 'identity_unlinked' | 'support_email_changed'
      to: string
    }
  | { kind: 'shop_suspended'; to: string }
  /** `stillNeeds`: why the shop is not open all the same. */
  | { kind: 'shop_approved' | 'shop_resumed'; to: string; stillNeeds?: 'approval' | 'account' }
  | { kind: 'email_changed'; to: string; newEmail: string }
  | {
      kind: 'payout_details_changed' | 'payout_details_removed'
      to: string
      currency: string
      shown: string
      by?: string
    }
  | { kind: 'key_created' | 'key_rolled' | 'key_revoked'; to: string; keyName: string }

type DatedNotice = Notice & { at: string }

export const addNotice = (tx: Tx, jobs: Jobs, notice: Notice): Promise<void> =>
  jobs.add(tx, 'notice', [{ data: { ...notice, at: new Date().toISOString() } satisfies DatedNotice }])

export interface SellerMails {
  db: Db
  mailer: Mailer
  /** For codes, which must not wait behind other mails. */
  codeMailer: Mailer
  secrets: readonly string[]
  signupOf: SignupOf
  appUrl: string
}

/** Sends codes, and notices about the account. */
export async function sendSellerMails(
  jobs: Jobs,
  { db, mailer, codeMailer, secrets, signupOf, appUrl }: SellerMails,
): Promise<void> {
  const send = async (by: Mailer, id: string, to: string, lines: Lines) => {
    await by(id, { to, subject: lines.subject, ...renderMail(lines) })
  }

  const sendCode = async (secret: string, id: string, jobId: string) => {
    const { rows } = await sql<{
      email: string
      purpose: 'sign_in' | 'change_email'
      links: boolean
      isSeller: boolean
      isDisabled: boolean
    }>`
      select c.email, c.purpose, c.issuer is not null as links,
        s.id is not null as "isSeller", s.disabled_at is not null as "isDisabled"
      from mailbox_codes c left join sellers s on s.email = c.email
      where c.id = ${id} and c.used_at is null and c.expires_at > now()`.execute(db)
    const code = rows[0]
    // the browser has asked for a newer code, or this one is used or expired
    if (!code) return
    if (code.purpose === 'sign_in' && (code.isDisabled || (!code.isSeller && signupOf(code.email) === 'closed'))) return
    const lines = CODE_LINES[code.links ? 'link' : code.purpose]
    await send(codeMailer, jobId, code.email, lines(codeOf(secret, id), new URL(appUrl).host))
  }
  for (const secret of secrets) {
    await jobs.on<{ id: string }>(codeQueue(secret), { ...CODE_QUEUE, atOnce: codeMailer.atOnce }, ({ id }, jobId) =>
      sendCode(secret, id, jobId),
    )
  }

  await jobs.on<DatedNotice>('notice', { ...MAIL_TRIES, atOnce: mailer.atOnce }, (notice, jobId) =>
    send(mailer, jobId, notice.to, noticeLines(notice, appUrl)),
  )
}

const CODE_LINES: Record<'sign_in' | 'link' | 'change_email', (digits: string, host: string) => Lines> = {
  sign_in: (digits, host) => ({
    subject: `${digits} is your code for ${host}`,
    title: 'Your code to sign in',
    text: `Type it where you asked for it. It works once, for ten minutes, and only in that browser.`,
    code: digits,
    facts: [],
    note: `If you did not ask for it, somebody typed your address at ${host}. Without this code they cannot sign in, so please do not pass it on. If such mails keep coming, tell the people who run ${host}.`,
  }),
  link: (digits, host) => ({
    subject: `${digits} is your code for ${host}`,
    title: 'Your code to sign in, and to link an account',
    text: 'Type it where you asked for it. It signs you in, and links the account at your identity provider that sent you here: that one opens yours from then on.',
    code: digits,
    facts: [],
    note: `If it was not you who came from the provider just now, do not type this code anywhere and do not pass it on: it would open your account at ${host} to somebody else. If such mails keep coming, tell the people who run ${host}.`,
  }),
  change_email: (digits, host) => ({
    subject: `${digits} confirms your new address at ${host}`,
    title: 'Your code to change your address',
    text: `Type it on your account’s page, and from then on you sign in at ${host} with this address. It works for ten minutes.`,
    code: digits,
    facts: [],
    note: `If you did not ask for it, somebody typed your address at ${host}. Nothing happens without this code: do not pass it on, to anybody. If such mails keep coming, tell the people who run ${host}.`,
  }),
}

function noticeLines(notice: DatedNotice, appUrl: string): Lines {
  const { host } = new URL(appUrl)
  const { subject, text } = wordsOf(notice, host)
  const when: [string, string] = ['When', `${notice.at.slice(0, 16).replace('T', ' ')} UTC`]
  const lines = { subject, text, title: subject, facts: [when] }
  if (notice.kind.startsWith('shop_')) return { ...lines, button: { label: 'Open my shop', url: `${appUrl}/shop/` } }
  if ('keyName' in notice)
    return {
      ...lines,
      button: { label: 'See my keys', url: `${appUrl}/shop/#/developers` },
      facts: [['Key', notice.keyName], when],
      note: 'If this was not you, sign in by a code to your mailbox, revoke the keys and end the sessions you do not know, and set a new password.',
    }
  if ('shown' in notice)
    return {
      ...lines,
      button: { label: 'See my account', url: `${appUrl}/account/` },
      facts: [['Currency', notice.currency], ['Account', notice.shown], when],
      note: `If this was not you, tell whoever runs ${host} at once. Then sign in by a code to your mailbox, set a new password, end the sessions you do not know, and enter your own account again.`,
    }
  if (notice.kind === 'email_changed')
    return {
      ...lines,
      note: `If this was not you, somebody else is in your account, and this address no longer opens it: tell whoever runs ${host} at once.`,
    }
  return {
    ...lines,
    button: { label: 'See my account', url: `${appUrl}/account/` },
    note: `If this was not you, sign in by a code to your mailbox, set a new password, end the sessions you do not know, and revoke the keys you do not know in your shop, under Developers.`,
  }
}

const STILL_NEEDS = {
  approval: 'Your products can be bought once the operator approves your shop, and you get a mail then.',
  account:
    'Your products can be bought once the account to which your money goes takes payments: the Money page of your shop says what is missing.',
}

function wordsOf(notice: DatedNotice, host: string): Pick<Lines, 'subject' | 'text'> {
  const needs = 'stillNeeds' in notice && notice.stillNeeds ? STILL_NEEDS[notice.stillNeeds] : undefined
  return {
    password_changed: {
      subject: `Your password at ${host} was changed`,
      text: 'Your password was changed, and every other session has ended. API keys go on working.',
    },
    support_email_changed: {
      subject: `Your support address at ${host} was changed`,
      text: 'Buyers read another address for their questions from now on, and their answers to our mails go there. Your account’s page shows which one.',
    },
    identity_linked: {
      subject: `A new way to sign in at ${host}`,
      text: 'An account at your identity provider was linked to yours, and opens it from now on.',
    },
    identity_added: {
      subject: `A further account opens yours at ${host}`,
      text: 'A further account at your identity provider was linked to yours, with a code from this mailbox, and opens yours from now on. The one that was linked before opens it too: unlink the one that is not yours any more.',
    },
    identity_unlinked: {
      subject: `An account no longer opens yours at ${host}`,
      text: 'An account at your identity provider was unlinked from yours. You can still sign in with a code by mail.',
    },
    email_changed: {
      subject: `Your address at ${host} was changed`,
      text: `From now on you sign in with ${notice.kind === 'email_changed' ? maskedEmail(notice.newEmail) : ''} instead of this address, and every other session has ended.`,
    },
    key_created: {
      subject: `A new API key of your account at ${host}`,
      text: 'A program with this key can use your account from now on, within what the key may do.',
    },
    key_rolled: {
      subject: `A new secret for an API key at ${host}`,
      text: 'An API key of your account was rolled: a new secret works, and the old one ends.',
    },
    key_revoked: {
      subject: `An API key at ${host} was revoked`,
      text: 'Programs that use this key can no longer use your account.',
    },
    payout_details_changed: {
      subject: `New payout details at ${host}`,
      text:
        'by' in notice
          ? `New details for your account at ${notice.by} were entered. Once ${notice.by} takes them, it pays this bank account.`
          : 'New payout details were entered. Payouts of this currency wait for 72 hours, and then go to the new account.',
    },
    payout_details_removed: {
      subject: `Your payout details at ${host} were removed`,
      text: 'Your money of this currency waits until you enter new payout details.',
    },
    shop_approved: {
      subject: needs ? `Your shop at ${host} is approved` : `Your shop at ${host} is open`,
      text: `The operator has approved your shop. ${needs ?? 'Every product that you have published can be bought from now on.'}`,
    },
    shop_suspended: {
      subject: `Your shop at ${host} is suspended`,
      text: 'The operator has stopped your sales. Buyers keep what they bought, and you can still sign in and refund them. Ask the operator what to do.',
    },
    shop_resumed: {
      subject: needs ? `The suspension of your shop at ${host} has ended` : `Your shop at ${host} is open again`,
      text: `The operator has ended the suspension. ${needs ?? 'Every product that you have published can be bought again.'}`,
    },
  }[notice.kind]
}
