import type { Random } from './random.ts'
import type { RefundRequest, Run } from './run.ts'

/** The seller refunds all or a part of an order, with a key, now and then two times at once. */
export async function refund(run: Run, random: Random): Promise<string | undefined> {
  const order = random.pickAny(run.orders)
  if (!order) return undefined
  const { priceMinor, currency } = order.good
  const step = currency === 'KWD' ? 10 : 1
  // at times more than there is: that is refused
  const most = Math.ceil(priceMinor / step) + 1
  const amount = random.chance(0.4)
    ? undefined
    : step * random.whole(Math.min(most, currency === 'INR' ? 100 : 1), most)
  const request = { orderId: order.orderId, key: run.world.newKey(), amount }
  run.refunds.push(request)
  const times = random.chance(0.3) ? 2 : 1
  await Promise.all(Array.from({ length: times }, () => ask(run, request)))
  return `the seller refunds ${amount ?? 'all'} of ${priceMinor} ${currency}, ${times} at once`
}

/** The same once more: the answer was lost, or the button was pressed again. */
export async function refundAgain(run: Run, random: Random): Promise<string | undefined> {
  const request = random.pickAny(run.refunds)
  if (!request) return undefined
  await ask(run, request)
  return 'the seller asks for the same refund again'
}

async function ask(run: Run, request: RefundRequest): Promise<void> {
  const { orderId, key, amount } = request
  const answer = await run.world.callAsSeller(
    'POST',
    `/api/orders/${orderId}/refunds`,
    { ...(amount !== undefined && { amount }) },
    { 'idempotency-key': key },
  )
  run.note('the seller’s refund', answer, [201, 409])
  if (answer.status !== 201) return
  request.refundId ??= answer.body.id
  if (request.refundId !== answer.body.id) run.problems.push(`the key ${key} made two refunds`)
}
