import { sql } from 'kysely'
import type { Db } from '../kit/database.ts'
import { newId } from '../kit/ids.ts'

/** The seller with this mailbox, made if there is none. The address is in its canonical form. */
export async function ensureSeller(db: Db, { name, email }: { name: string; email: string }): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into sellers (id, name, email) values (${newId('sel')}, ${name}, ${email})
    on conflict (email) do update set name = sellers.name
    returning id`.execute(db)
  return rows[0]!.id
}
