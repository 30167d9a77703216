import type { FastifyRequest } from 'fastify'
import type { Db } from '../kit/database.ts'
import { Refusal } from '../kit/errors.ts'
import { type Limit, countUses, giveBack, networkOf, refuseBeyond } from '../kit/limits.ts'

/**
 * Runs what a code was sent with. Wrong codes are counted for the network they come from, over all instances, and too many end
 * the guessing, for right ones too. Counted before it is known: or a burst of guesses would all be free.
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
