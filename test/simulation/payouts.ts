import type { Answer } from '../support/shop.ts'
import type { Random } from './random.ts'
import type { Run } from './run.ts'

// The operator pays the seller: proposes runs, approves them, takes the bank files and marks payouts as the bank says, at times twice
// at once. The second request is refused.

const ask = async (
  run: Run,
  what: string,
  method: string,
  address: string,
  body?: unknown,
  headers = {},
): Promise<Answer> => {
  const answer = await run.world.callAsOperator(method, `/api/operator/${address}`, body, headers)
  run.note(what, answer, [200, 201, 409])
  return answer
}

/** The newest run more often than others, because older ones are mostly done. */
const someRun = (run: Run, random: Random): string | undefined =>
  random.chance(0.6) ? run.payoutRuns.at(-1) : random.pickAny(run.payoutRuns)

const twiceAtTimes = (random: Random, work: () => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: random.chance(0.3) ? 2 : 1 }, work))

export async function propose(run: Run, random: Random): Promise<string> {
  await twiceAtTimes(random, async () => {
    const { status, body } = await ask(run, 'a proposal', 'POST', 'payout-runs')
    if (status === 201) run.payoutRuns.push(body.runId)
  })
  return `the operator proposes payouts (${run.payoutRuns.length} runs)`
}

/** One run or two, which were perhaps proposed of the same money. */
export async function approve(run: Run, random: Random): Promise<string | undefined> {
  const runs = [someRun(run, random), random.pickAny(run.payoutRuns)].filter((id) => id !== undefined)
  if (runs.length === 0) return undefined
  const both = random.chance(0.5) ? runs : runs.slice(0, 1)
  const answers = await Promise.all(both.map((id) => ask(run, 'an approval', 'POST', `payout-runs/${id}/approve`)))
  return `the operator approves ${new Set(both).size === 2 ? 'two runs' : 'a run'} (${answers.map(({ status }) => status).join(', ')})`
}

export async function cancel(run: Run, random: Random): Promise<string | undefined> {
  const id = someRun(run, random)
  if (id === undefined) return undefined
  const { status } = await ask(run, 'a cancellation', 'POST', `payout-runs/${id}/cancel`)
  return `the operator cancels a run (${status})`
}

/** A bank file is the same each time, and a payout is in one of them only. */
export async function takeFiles(run: Run, random: Random): Promise<string | undefined> {
  const id = someRun(run, random)
  if (id === undefined) return undefined
  const { body } = await ask(run, 'a run', 'GET', `payout-runs/${id}`)
  const files: { currency: string; format: string }[] = body.files ?? []
  for (const { currency, format } of files)
    await twiceAtTimes(random, async () => {
      const address = `payout-runs/${id}/files/${currency}?format=${format}`
      const { status, body: content } = await ask(run, 'a bank file', 'POST', address)
      if (status === 200) keepFile(run, address, String(content))
    })
  return `the operator takes ${files.length} bank files`
}

function keepFile(run: Run, address: string, content: string): void {
  const before = run.bankFiles.get(address)
  if (before !== undefined && before !== content) run.problems.push(`${address} is another file than before`)
  run.bankFiles.set(address, content)
  const references = [...run.bankFiles.values()].flatMap((one) => one.match(/\bPO[0-9A-Z]{26}\b/g) ?? [])
  if (new Set(references).size < references.length) run.problems.push('a payout is in two bank files')
}

export async function send(run: Run, random: Random): Promise<string | undefined> {
  const id = someRun(run, random)
  if (id === undefined) return undefined
  let sent = 0
  await twiceAtTimes(random, async () => {
    sent += (await ask(run, 'the sending', 'POST', `payout-runs/${id}/sent`, {})).body.sent ?? 0
  })
  return `the operator marks ${sent} payouts as sent`
}

const MARKS = ['paid', 'failed', 'reversed'] as const
/** A mark that a bank would cause next. A payout comes back only after it was paid, which is rare among marks of pure chance. */
const LIKELY: Record<string, readonly (typeof MARKS)[number][]> = {
  approved: ['paid', 'failed'],
  sent: ['paid', 'paid', 'failed'],
  paid: ['reversed'],
}

/** The bank's reports, in an order that makes no sense at times. */
export async function mark(run: Run, random: Random): Promise<string | undefined> {
  const { rows } = await run.world.client.query<{ id: string; state: string }>(
    `select id, state from payouts where run_id = any($1) order by run_id, currency`,
    [run.payoutRuns],
  )
  const payout = random.pickAny(rows)
  if (!payout) return undefined
  const marks = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () =>
    random.pick(random.chance(0.6) ? (LIKELY[payout.state] ?? MARKS) : MARKS),
  )
  const answers = await Promise.all(
    marks.map((one) =>
      ask(
        run,
        one,
        'POST',
        `payouts/${payout.id}/${one}`,
        one === 'paid' ? undefined : { reason: 'The bank says no.' },
      ),
    ),
  )
  // without it the seller's money would wait for new details from here on
  if (marks.some((one) => one !== 'paid') && random.chance(0.5))
    await ask(run, 'that the account is right', 'POST', `payouts/${payout.id}/pay-again`)
  return `a payout (${payout.state}) is ${marks.join(' and ')} (${answers.map(({ status, body }) => `${status} ${body.changed ?? ''}`.trim()).join(', ')})`
}

/** An adjustment with a key, which is sent again at times. */
export async function adjust(run: Run, random: Random): Promise<string> {
  const { currency } = random.pick(run.world.goods)
  const body = { amount: random.pick([1, 250, 1000, 5000]), currency, reason: 'A correction.' }
  const key = { 'idempotency-key': run.world.newKey() }
  const made = new Set<string>()
  await twiceAtTimes(random, async () => {
    const { status, body: answer } = await ask(
      run,
      'a correction',
      'POST',
      `sellers/${run.world.sellerId()}/adjustments`,
      body,
      key,
    )
    if (status === 201) made.add(answer.adjustmentId)
  })
  if (made.size > 1) run.problems.push('one correction is booked twice')
  return `the operator corrects the balance by ${body.amount} ${currency}`
}

/** The seller names another destination, and its 72 hours end at once or not. */
export async function changeDetails(run: Run, random: Random): Promise<string> {
  const { currency } = random.pick(run.world.goods)
  const isOver = random.chance(0.7)
  await run.world.changeDetails(currency, `Account ${random.whole(10_000_000, 99_999_999)}`, isOver)
  return `the seller changes the details for ${currency}${isOver ? '' : ', which are held'}`
}
