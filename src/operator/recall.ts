import { type Db, inTransaction } from '../kit/database.ts'
import { endUndeliverable } from '../orders/recalled-files.ts'
import { recallFile } from '../products/recall.ts'
import { note } from './log.ts'

/** The operator recalls a file. Refuses as recallFile(). */
export const recallAsOperator = (db: Db, actor: string, wanted: { fileId: string; reason: string }) =>
  inTransaction(db, async (tx) => {
    const recalled = await recallFile(tx, wanted)
    await endUndeliverable(tx, wanted.fileId)
    const { name, productName, reason, already } = recalled
    if (!already) await note(tx, actor, 'file_recalled', wanted.fileId, { name, product: productName, reason })
    return recalled
  })
