import { finishMoves, sweepEmailChanges } from '../buyers/order-moves.ts'
import { sweepCodes } from '../kit/code-table.ts'
import type { Db } from '../kit/database.ts'
import type { Jobs } from '../kit/jobs.ts'
import { sweepLimits } from '../kit/limits.ts'
import type { Storage } from '../kit/storage/storage.ts'
import { forgetIdempotencyKeys } from '../orders/create.ts'
import { repairParts } from '../payments/settle/parts.ts'
import { sweepImages } from '../products/images/images.ts'
import { sweepUploads } from '../products/uploads/uploads.ts'
import { sweepSessions } from '../sellers/sessions.ts'

const OFTEN = '*/10 * * * *'
const NIGHTLY = '23 4 * * *'

/**
 * Every few minutes, removes what has expired: keys, counts, sessions, codes and unfinished uploads; and repairs what an instance
 * of the version before has written. Each night, removes unused pictures.
 */
export async function registerSweeps(jobs: Jobs, db: Db, storage: Storage): Promise<void> {
  await jobs.every(OFTEN, 'forget_keys', () => forgetIdempotencyKeys(db))
  await jobs.every(OFTEN, 'sweep_limits', () => sweepLimits(db))
  await jobs.every(OFTEN, 'sweep_sessions', () => sweepSessions(db))
  await jobs.every(OFTEN, 'sweep_uploads', () => sweepUploads(db, storage))
  await jobs.every(OFTEN, 'sweep_mailbox_codes', () => sweepCodes(db))
  await jobs.every(OFTEN, 'sweep_email_changes', () => sweepEmailChanges(db))
  await jobs.every(OFTEN, 'finish_order_moves', () => finishMoves(db, jobs))
  await jobs.every(OFTEN, 'repair_parts', () => repairParts(db))
  await jobs.every(NIGHTLY, 'sweep_images', () => sweepImages(db, storage))
}
