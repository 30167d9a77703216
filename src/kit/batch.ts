import { Refusal } from './errors.ts'

/** Where the database stands still, so many wait for it, and the rest are told at once to come back. */
const MOST_WAITING = 1000
const RETRY_AFTER_SECONDS = 2

/** How an input comes. */
export interface Coming {
  /** It may be put off for others, up to `gatherMs`. */
  deferrable?: boolean
}

/**
 * Requests that arrive together share one statement and one commit. Alone, nobody waits: the work starts at once. Whoever
 * comes while it is under way joins the next round.
 *
 * Inputs that can wait gather, once two of them came together: their next round begins `gatherMs` after the one before, or as long
 * after the first of them came, or when it is full, or with one that cannot wait. What comes fast, one by one, would otherwise be as
 * many rounds.
 *
 * `run` answers in the order of its inputs. When a shared round fails, each of its members is tried alone, so one that the
 * database refuses does not take the others with it; `isOutage` names the errors for which that would only add load.
 */
export function batched<In, Out>(
  run: (inputs: readonly In[]) => Promise<readonly Out[]>,
  {
    most,
    atOnce,
    isOutage,
    gatherMs = 0,
  }: { most: number; atOnce: number; isOutage: (error: unknown) => boolean; gatherMs?: number },
): (input: In, how?: Coming) => Promise<Out> {
  interface Waiting {
    input: In
    deferrable: boolean
    came: number
    resolve: (out: Out) => void
    reject: (error: unknown) => void
  }
  const queue: Waiting[] = []
  let underWay = 0
  let last = { couldWait: 0, began: -Infinity }
  let timer: NodeJS.Timeout | undefined

  async function round(members: Waiting[]): Promise<void> {
    try {
      const outs = await run(members.map((member) => member.input))
      members.forEach((member, i) => member.resolve(outs[i]!))
    } catch (error) {
      if (members.length === 1 || isOutage(error)) members.forEach((member) => member.reject(error))
      else for (const member of members) await round([member])
    }
  }

  /** How long the next round is put off, in ms. */
  function patience(): number {
    const gathers = last.couldWait > 1 && queue.length < most && queue.every(({ deferrable }) => deferrable)
    return gathers ? Math.min(last.began, queue[0]!.came) + gatherMs - performance.now() : 0
  }

  function next(): void {
    clearTimeout(timer)
    while (underWay < atOnce && queue.length > 0) {
      const waitMs = patience()
      if (waitMs > 0) return void (timer = setTimeout(next, waitMs))
      underWay++
      const members = queue.splice(0, most)
      last = { couldWait: members.filter(({ deferrable }) => deferrable).length, began: performance.now() }
      void round(members).finally(() => {
        underWay--
        next()
      })
    }
  }

  return (input, { deferrable = false } = {}) =>
    new Promise((resolve, reject) => {
      if (queue.length >= MOST_WAITING) {
        const more = { retryAfterSeconds: RETRY_AFTER_SECONDS }
        return reject(new Refusal('database_unavailable', 'Too many requests wait already.', more))
      }
      queue.push({ input, deferrable, came: performance.now(), resolve, reject })
      next()
    })
}
