import type { FastifyRequest } from 'fastify'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { type Limit, countUses, giveBack, networkOf, refuseBeyond } from '../kit/limits.ts'

/**
 * Runs `work`, which uses the discount code of a request. Wrong codes count for the client's network, across all instances; beyond the
 * limit right codes are refused too. The code counts before `work` checks it: otherwise none of a burst of guesses would count in time.
 */
export async function limitCodeGuesses<T>(
  db: Db,
  limit: Limit | undefined,
  { request, code }: { request: FastifyRequest; code: string | undefined },
  work: () => Promise<T>,
): Promise<T> {
  if (!limit || !code?.trim()) return work()
  const key = `discount:${networkOf(request.ip)}`
  refuseBeyond(await countUses(db, [{ key, limit }]), 'Too many codes were tried from here.')
  let isWrong = false
  try {
    return await work()
  } catch (error) {
    isWrong = error instanceof Refusal && error.code === 'discount_not_valid'
    throw error
  } finally {
    if (!isWrong) await giveBack(db, [key])
  }
}
