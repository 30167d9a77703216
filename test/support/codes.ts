import { sql } from 'kysely'
import { codeOf } from '../../src/sellers/codes.ts'
import { codeMails, cookiesOf } from './seller.ts'
import { type Answer, SECRET, type TestShop, eventually } from './shop.ts'

export const of = (email: string) => sql<boolean>`email = ${email}`
/** The newest code of a mailbox. */
export const codeRow = async ({ db }: TestShop, email: string) =>
  (await sql<{ id: string; wrongTries: number; used: boolean }>`
    select id, wrong_tries as "wrongTries", used_at is not null as used from mailbox_codes where email = ${email} order by created_at desc, id limit 1`.execute(db)).rows[0] // oxfmt-ignore

/** The newest code, once its mail is there. */
export async function codeFrom(shop: TestShop, email: string): Promise<string> {
  const code = codeOf(SECRET, (await codeRow(shop, email))!.id)
  await eventually(
    () => codeMails(shop, email),
    (mails) => mails.some((mail) => mail.code === code),
  )
  return code
}

/** The comparable part of a response: without ids, times and secrets. */
export function told({ status, body, headers }: Answer) {
  const names = [...headers.keys()].filter((name) => !['date', 'connection', 'keep-alive'].includes(name)).sort()
  const cookies = cookiesOf(headers).map(({ name, attributes }) => [name, attributes])
  return { status, body: { ...body, requestId: typeof body?.requestId }, names, cookies }
}
