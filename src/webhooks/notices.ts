import type { Db, Tx } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { type Limit, countUses, refuseBeyond } from '../kit/limits.ts'
import { type Lines, renderMail } from '../kit/mail-layout.ts'
import { MAIL_TRIES, type Mailer } from '../kit/mail.ts'
import { earlierMailboxes } from '../sellers/history.ts'
import type { Caller } from '../sellers/keys/caller.ts'

/** A mail to the owner: from now on somebody hears of every sale, and somebody else may have arranged it. */
interface Notice {
  endpointId: string
  url: string
  isNew: boolean
  /** Null: a signed-in browser. */
  keyName: string | null
  to: string
  at: string
}

/** Enqueues the mail, also to each mailbox that the account had lately. */
export async function addEndpointNotice(
  tx: Tx,
  jobs: Jobs,
  { seller, key }: Caller,
  endpoint: { id: string; url: string; isNew: boolean },
): Promise<void> {
  const { id: endpointId, url, isNew } = endpoint
  const notice = { endpointId, url, isNew, keyName: key?.name ?? null, at: new Date().toISOString() }
  const mailboxes = [seller.email, ...(await earlierMailboxes(tx, seller.id, seller.email))]
  await jobs.add(tx, 'endpoint_notice', mailboxes.map((to) => ({ data: { ...notice, to } satisfies Notice }))) // oxfmt-ignore
}

/** Each new address sends a mail, and a stolen key must not fill a mailbox. Keys count apart, so that it does not stop the owner either. */
export async function countAddress(db: Db, limit: Limit | undefined, { seller, session }: Caller): Promise<void> {
  if (!limit) return
  const counted = await countUses(db, [{ key: `endpoint address ${seller.id}${session ? '' : ' by keys'}`, limit }])
  refuseBeyond(counted, 'You have given endpoints many addresses. Please wait a little.')
}

export async function sendEndpointNotices(
  jobs: Jobs,
  { mailer, appUrl }: { mailer: Mailer; appUrl: string },
): Promise<void> {
  await jobs.on<Notice>('endpoint_notice', { ...MAIL_TRIES, atOnce: mailer.atOnce }, async (notice, jobId) => {
    const lines = linesOf(notice, appUrl)
    await mailer(jobId, { to: notice.to, subject: lines.subject, ...renderMail(lines) })
  })
}

function linesOf({ endpointId, url, isNew, keyName, at }: Notice, appUrl: string): Lines {
  const { host } = new URL(appUrl)
  const subject = isNew ? `An endpoint was added at ${host}` : `The address of an endpoint was changed at ${host}`
  return {
    subject,
    title: subject,
    text: 'It hears of the orders of your shop, with the buyers’ addresses.',
    button: { label: 'See the endpoint', url: `${appUrl}/shop/#/developers/endpoints/${endpointId}` },
    facts: [
      ['Address', url],
      ['By', keyName === null ? 'a signed-in browser' : `the API key “${keyName}”`],
      ['When', `${at.slice(0, 16).replace('T', ' ')} UTC`],
    ],
    note: 'If this was not you, remove the endpoint, revoke the keys and end the sessions you do not know, and set a new password. An endpoint stays when its key ends.',
  }
}
