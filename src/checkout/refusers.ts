import type { FastifyRequest } from 'fastify'
import { Refusal } from '../kit/errors.ts'
import type { Server } from '../kit/http.ts'
import { type Limit, networkOf } from '../kit/limits.ts'

// The limits of buyers' routes that come on top of each route's own limit.

type Taken = Awaited<ReturnType<ReturnType<Server['createRateLimit']>>>

/** The refusal names this limit, because the headers of the answer are about the route's own limit until then. */
function refuseExceeded(taken: Taken | undefined, detail: string): void {
  if (!taken || taken.isAllowed || !taken.isExceeded) return
  throw new Refusal('rate_limited', detail, { retryAfterSeconds: taken.ttlInSeconds, limitCount: taken.max })
}

/**
 * The status limit counts each order separately. This one counts the requests of a network for unknown ids, and tells a client that makes
 * many of them to stop. It does not prevent guesses, because an existing id is answered anyway. The 80 random bits of an id do.
 */
export function unknownOrderRefuser(
  server: Server,
  limit: Limit | undefined,
): (request: FastifyRequest) => Promise<never> {
  const misses = limit && server.createRateLimit({ max: limit.count, timeWindow: limit.seconds * 1000 })
  return async (request) => {
    const taken = await misses?.(request)
    refuseExceeded(taken, 'Too many unknown orders.')
    throw new Refusal('order_not_found', 'There is no such order.')
  }
}

/** Card testers use many addresses and mostly one product, so this limit counts the orders of each product. */
export function botRefuser(server: Server, limit: Limit | undefined): (request: FastifyRequest) => Promise<void> {
  const perProduct =
    limit &&
    server.createRateLimit({
      max: limit.count,
      timeWindow: limit.seconds * 1000,
      keyGenerator: (request) => `product ${(request.body as { productId: string }).productId}`,
    })
  return async (request) => {
    const taken = await perProduct?.(request)
    refuseExceeded(taken, 'Very many people are buying this right now.')
  }
}

/** VIES refuses clients that ask often, so a network may ask only as often as it may order. */
export function taxIdGuessRefuser(
  server: Server,
  limit: Limit | undefined,
): (request: FastifyRequest) => Promise<void> {
  const asks =
    limit &&
    server.createRateLimit({
      max: limit.count,
      timeWindow: limit.seconds * 1000,
      keyGenerator: (request) => `tax id ${networkOf(request.ip)}`,
    })
  return async (request) => {
    const taken = await asks?.(request)
    refuseExceeded(taken, 'Too many tax ids were tried.')
  }
}
